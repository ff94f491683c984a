"""Compare test accuracies: published, of the paper's trained models, and of our own training.

Run `python benchmarks/accuracy.py`; it writes results/accuracy.md and results/accuracy.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch
import torch_geometric
from torch import Tensor
from torch_geometric.data import Data

from zorro.data import ba_community, load
from zorro.errors import CheckpointError
from zorro.models import accuracy, build, checkpoint, paper_settings, train
from zorro.version import __version__

RESULTS = Path(__file__).parent / "results"
# Of the paper's tables "Datasets and statistics" and "Accuracy of the selected epochs".
PUBLISHED: dict[str, dict[str, float | None]] = {
    "cora": {"gcn": 0.794, "gat": 0.791, "gin": 0.679, "appnp": 0.799},
    "citeseer": {"gcn": 0.675, "gat": 0.673, "gin": 0.480, "appnp": 0.663},
    "pubmed": {"gcn": 0.782, "gat": 0.765, "gin": 0.590, "appnp": 0.782},
    "amazon-computers": {"gcn": 0.787, "gat": 0.797, "gin": 0.471, "appnp": 0.810},
    "ba-community-paper": {"gcn3": 0.84},
    "ba-community": {"gcn3": None},
}
PUBLISHED_MOTIF = {"ba-community-paper": 0.76}
# The paper's text says 0.005; the weights of its models for the citation data sets have the
# magnitudes that 0.0005 gives. Both are measured on the real data sets.
WEIGHT_DECAYS = (0.005, 0.0005)


@dataclass
class Row:
    """One line of the table; `own` holds an accuracy per seed, by weight decay."""

    dataset: str
    model: str
    nodes: str
    published: float | None
    checkpoint: float | None = None
    own: dict[str, list[float]] = field(default_factory=dict)


def main() -> None:
    """Measure every row, printing progress, and write the results after each data set."""
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    rows: list[Row] = []
    started = time.monotonic()
    for dataset in arguments.datasets:
        seeds = arguments.amazon_seeds if dataset == "amazon-computers" else arguments.seeds
        for model in PUBLISHED[dataset]:
            rows += _measure(dataset, model, seeds=seeds)
        _write(rows, arguments, seconds=time.monotonic() - started)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="trainings per row")
    parser.add_argument("--amazon-seeds", type=int, default=1, help="trainings per Amazon row")
    parser.add_argument("--threads", type=int, default=1, help="torch threads")
    parser.add_argument("--datasets", nargs="+", choices=PUBLISHED, default=list(PUBLISHED))
    return parser.parse_args()


def _measure(dataset: str, model: str, *, seeds: int) -> list[Row]:
    rows = [Row(dataset, model, "test", PUBLISHED[dataset][model])]
    if dataset.startswith("ba-community"):
        rows.append(Row(dataset, model, "motif", PUBLISHED_MOTIF.get(dataset)))
    _measure_checkpoint(rows, load(dataset))
    decays = WEIGHT_DECAYS[:1] if dataset.startswith("ba-community") else WEIGHT_DECAYS
    for decay in decays:
        for seed in range(seeds):
            started = time.monotonic()
            data = load(dataset, seed=seed)
            settings = replace(paper_settings(dataset, seed=seed), weight_decay=decay)
            trained = train(model, data, settings)
            for row in rows:
                value = accuracy(trained, data, _mask(data, row.nodes))
                row.own.setdefault(str(decay), []).append(value)
            _report(rows, decay=decay, seed=seed, seconds=time.monotonic() - started)
    return rows


def _measure_checkpoint(rows: list[Row], data: Data) -> None:
    try:
        path = checkpoint.paper_checkpoint(rows[0].dataset, rows[0].model)
    except CheckpointError:
        return
    model = build(rows[0].model, data.num_features, int(data.y.max()) + 1)
    checkpoint.load(model, path)
    for row in rows:
        row.checkpoint = accuracy(model, data, _mask(data, row.nodes))


def _mask(data: Data, nodes: str) -> Tensor:
    if nodes == "test":
        test_mask: Tensor = data.test_mask
        return test_mask
    mask = torch.zeros(data.num_nodes, dtype=torch.bool)
    mask[ba_community.motif_nodes()] = True
    return mask


def _report(rows: list[Row], *, decay: float, seed: int, seconds: float) -> None:
    values = ", ".join(f"{row.nodes} {row.own[str(decay)][-1]:.3f}" for row in rows)
    print(
        f"{rows[0].dataset} {rows[0].model}, weight decay {decay}, seed {seed}: {values} "
        f"({seconds:.0f} s)",
        flush=True,
    )


def _write(rows: list[Row], arguments: argparse.Namespace, *, seconds: float) -> None:
    RESULTS.mkdir(exist_ok=True)
    setting = {
        "command": " ".join(["python", "benchmarks/accuracy.py", *sys.argv[1:]]),
        "machine": f"{os.cpu_count()} CPUs, {arguments.threads} torch thread(s)",
        "versions": f"zorro {__version__}, Python {platform.python_version()}, "
        f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}",
        "seconds": round(seconds),
    }
    content = {**setting, "rows": [asdict(row) for row in rows]}
    (RESULTS / "accuracy.json").write_text(json.dumps(content, indent=2) + "\n")
    (RESULTS / "accuracy.md").write_text(_markdown(rows, setting, arguments))


def _markdown(rows: list[Row], setting: dict[str, object], arguments: argparse.Namespace) -> str:
    first, second = WEIGHT_DECAYS
    lines = [
        "# Accuracy of the models",
        "",
        f"`{setting['command']}` on {setting['machine']}, {setting['versions']}, "
        f"{setting['seconds']} s.",
        "",
        f"Own training: mean [smallest, largest] over {arguments.seeds} seeds "
        f"({arguments.amazon_seeds} for amazon-computers), with the paper's settings; the seed "
        "also draws the split of amazon-computers and the graph of ba-community. The paper's text "
        f"gives a weight decay of {first}; its trained models for the citation data sets have the "
        f"weight magnitudes of {second}.",
        "",
        "The paper does not give every detail of its architectures. Those left open were chosen by "
        "the accuracy that the paper's own weights reach, so that column is partly fitted: 2 "
        "variants tried for gat, 2 for gin, 12 for appnp (K, α) and 120 for gcn3; features are raw "
        "because normalised ones do not fit.",
        "",
        f"| data set | model | nodes | published | paper's model | own, weight decay {first} "
        f"| own, weight decay {second} |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        cells = [row.dataset, row.model, row.nodes, _number(row.published), _number(row.checkpoint)]
        cells += [_summary(row.own.get(str(decay), [])) for decay in WEIGHT_DECAYS]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _summary(values: list[float]) -> str:
    if not values:
        return "–"
    mean = f"{sum(values) / len(values):.3f}"
    return mean if len(values) == 1 else f"{mean} [{min(values):.3f}, {max(values):.3f}]"


if __name__ == "__main__":
    main()
