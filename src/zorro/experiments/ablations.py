"""The two ablations on Cora with the GCN: the number of samples, and the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zorro.experiments.cells import Cell
from zorro.experiments.experiment import Experiment, Settings
from zorro.experiments.measuring import Variant, mean, measured
from zorro.experiments.paper_values import published_by
from zorro.experiments.report import Report, as_table

_CELL = Cell("cora", "gcn")
_MEASURES = ("node_entropy", "feature_entropy", "fidelity", "validity")
_AS_RUN = {".85": 0.85, ".98": 0.97}  # the published τ = .98 was run as "above .97"
_NOTE = (
    "Entries are *paper* / *reference* / *ours*: published; the published set-up (truncated graph, "
    "its noise) run here; the whole graph's prediction explained. {} query nodes. Fidelity is "
    "measured on 1,000 samples that the search has not seen, where the paper used 100.\n\n"
)


def run_samples(settings: Settings) -> Report:
    """Search with 10 to 150 samples."""
    values = published_by("vary_samples", "tau", "samples", "metric")
    keys = list(dict.fromkeys(key[:2] for key in values))
    options = {key: {"tau": _AS_RUN[key[0]], "samples": int(key[1])} for key in keys}
    return _report(SAMPLES, ("τ", "samples"), values, options, settings)


def run_thresholds(settings: Settings) -> Report:
    """Search for thresholds from .2 to .96."""
    values = published_by("vary_tau", "tau", "metric")
    keys = list(dict.fromkeys(key[:1] for key in values))
    options = {key: {"tau": float(key[0])} for key in keys}
    return _report(THRESHOLDS, ("τ",), values, options, settings)


def _report(
    experiment: Experiment,
    names: Sequence[str],
    values: Mapping[tuple[str, ...], float],
    options: Mapping[tuple[str, ...], Mapping[str, float]],
    settings: Settings,
) -> Report:
    nodes = _CELL.nodes(settings.nodes)
    rows = []
    lines: list[list[object]] = []
    for key, chosen in options.items():
        label = f"{experiment.name} {' '.join(key)}"
        found = {
            "reference": Variant(
                f"{label} reference", "zorro-paper", chosen, "published", reference=True
            ),
            "ours": Variant(label, "zorro-paper", chosen),
        }
        means = {
            name: measured(experiment.name, _CELL, variant, nodes, settings)
            for name, variant in found.items()
        }
        line: list[object] = [*key]
        for measure in _MEASURES:
            each = {"paper": values[*key, measure]}
            each |= {name: mean(some, measure) or 0.0 for name, some in means.items()}
            line.append(" / ".join(f"{value:.2f}" for value in each.values()))
            place = dict(zip(names, key, strict=True))
            rows.append({**place, "measure": measure, "nodes": len(nodes), **each})
        lines.append(line)
    text = _NOTE.format(len(nodes)) + as_table([*names, *_MEASURES], lines)
    return Report(experiment.title, rows, text)


SAMPLES = Experiment(
    "samples", "Number of samples that the search sees (Cora, GCN)", "tab:vary_samples", run_samples
)
THRESHOLDS = Experiment("thresholds", "The threshold τ (Cora, GCN)", "tab:vary_tau", run_thresholds)
