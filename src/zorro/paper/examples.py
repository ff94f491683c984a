"""What all methods say of two house nodes: 300, predicted right, and 302, predicted wrong."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from zorro.data.ba_community import house_of
from zorro.paper.cells import SYNTHETIC
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.jobs import loaded
from zorro.paper.measuring import measure
from zorro.paper.report import Report, as_table
from zorro.paper.variants import in_both_settings, variants_of, wanted
from zorro.show.plot import compare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NODES = (300, 302)
_SETTINGS = ("reference", "ours")
_HOPS = 3


def run(settings: Settings) -> Report:
    """Draw the explanations of both nodes, the house beside them."""
    jobs = {
        (variant.name, setting): job
        for variant in variants_of(settings)
        for setting, job in in_both_settings(SYNTHETIC, variant, "cut").items()
    }
    jobs = {key: job for key, job in jobs.items() if wanted(job, settings, without=("empty",))}
    found = measure(list(jobs.values()), settings, only=_NODES)
    model, data = loaded(SYNTHETIC)
    predicted = model(data.x, data.edge_index).argmax(dim=1)
    rows: list[dict[str, object]] = []
    lines: list[list[object]] = []
    figures: dict[str, Any] = {}
    for node in _NODES:
        house = list(house_of(node))
        is_right = bool(predicted[node] == data.y[node])
        for setting in _SETTINGS:
            answers: dict[str, list[int]] = {"the house": house}
            for (name, of_setting), job in jobs.items():
                row = next((row for row in found.of(job) if row["node"] == node), None)
                if row is None or of_setting != setting or row["chosen"] is None:
                    continue
                answers[name] = row["chosen"]
                inside = len(set(house) & set(row["chosen"]))
                entry: dict[str, object] = {
                    "node": node,
                    "prediction": "right" if is_right else "wrong",
                    "setting": setting,
                    "method": name,
                    "chosen": " ".join(map(str, row["chosen"])),
                    "in the house": inside,
                }
                rows.append(entry)
                lines.append([*list(entry.values())[:5], f"{inside} of {len(row['chosen'])}"])
            figures[f"{node}_{setting}"] = partial(_figure, node, answers)
    header = ["node", "prediction", "setting", "method", "chosen", "in the house"]
    return Report(EXAMPLES.title, rows, _TEXT + as_table(header, lines), figures, found.made_with)


_TEXT = (
    "Soft masks are cut down to the five nodes that count most. *reference*: on the truncated "
    "graph, as in the paper's figure; *ours*: the prediction that the model makes.\n\n"
)


def _figure(node: int, answers: dict[str, list[int]]) -> Figure:
    _, data = loaded(SYNTHETIC)
    return compare(answers, node, data.edge_index, hops=_HOPS, most_context=25)


EXAMPLES = Experiment(
    "examples", "Explanations of two house nodes", "fig:syn2_examples, fig:syn2_legend", run
)
