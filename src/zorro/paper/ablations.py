"""The two ablations on Cora with the GCN: the number of samples, and the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zorro.paper.cells import NodeCell
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.jobs import FRESH, PAPER_TAU, MethodJob, Variant
from zorro.paper.measuring import is_empty, mean, measure
from zorro.paper.paper_values import published_by
from zorro.paper.report import Report, as_table, triple
from zorro.paper.variants import in_both_settings

_CELL = NodeCell("cora", "gcn")
_MEASURES = ("node_entropy", "feature_entropy", "fidelity", "validity")
_NOTE = (
    "Entries are *paper* / *reference graph* / *ours*: published; the published set-up (truncated "
    "graph, its own 100 noise samples to measure on) run here; the whole graph's prediction "
    f"explained, measured on {FRESH} samples that the search has not seen. Empty "
    "explanations, which have no entropy, are counted in the last column (reference / ours).\n\n"
)


def run_samples(settings: Settings) -> Report:
    """Search with 10 to 150 samples."""
    values = published_by("vary_samples", "tau", "samples", "metric")
    keys = list(dict.fromkeys(key[:2] for key in values))
    options = {key: {"tau": PAPER_TAU[key[0]], "samples": int(key[1])} for key in keys}
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
    jobs: dict[tuple[tuple[str, ...], str], MethodJob] = {}
    for key, chosen in options.items():
        variant = Variant(f"{experiment.name} {' '.join(key)}", "zorro-paper", chosen)
        for setting, job in in_both_settings(_CELL, variant).items():
            jobs[key, setting] = job
    found = measure(list(jobs.values()), settings)
    rows: list[dict[str, object]] = []
    lines: list[list[object]] = []
    for key in options:
        some = {setting: found.of(jobs[key, setting]) for setting in ("reference", "ours")}
        line: list[object] = [*key, len(some["ours"])]
        empty = {setting: sum(map(is_empty, of_it)) for setting, of_it in some.items()}
        for name in _MEASURES:
            each: dict[str, float | None] = {"paper": values[*key, name]}
            each |= {setting: mean(of_it, name) for setting, of_it in some.items()}
            line.append(triple(*each.values()))
            place = dict(zip(names, key, strict=True))
            rows.append({**place, "measure": name, "nodes": len(some["ours"]), **each})
        lines.append([*line, " / ".join(map(str, empty.values()))])
    text = _NOTE + as_table([*names, "nodes", *_MEASURES, "empty"], lines)
    return Report(experiment.title, rows, text, made_with=found.made_with)


SAMPLES = Experiment(
    "samples", "Number of samples that the search sees (Cora, GCN)", "tab:vary_samples", run_samples
)
THRESHOLDS = Experiment("thresholds", "The threshold τ (Cora, GCN)", "tab:vary_tau", run_thresholds)
