"""Does the extracted graph predict what the whole graph predicts? For all of the paper's queries.

    python benchmarks/class_agreement.py

Counts, for each of the paper's models and query nodes, how often the class on the extracted graph
is the class on the whole graph: on ours (candidates plus halo, checked) and on the truncated graph
(no halo) that the paper explains. Writes benchmarks/results/class_agreement.{json,md}.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import torch

from zorro import data, models
from zorro.cut import Extractor
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor

RESULTS = Path(__file__).parent / "results"
CELLS = [
    *[(d, m) for d in ("cora", "citeseer", "pubmed") for m in ("gcn", "gat", "gin", "appnp")],
    ("ba-community-paper", "gcn3"),
]


def agreement(dataset: str, architecture: str) -> dict[str, object]:
    """Count agreements of one model on all of the paper's query nodes of one data set."""
    graph = data.load(dataset)
    model = models.build(architecture, graph.x.size(1), int(graph.y.max()) + 1)
    models.checkpoint.load(model, models.checkpoint.paper_checkpoint(dataset, architecture))
    predictor = Predictor(model)
    whole = predictor.scores(graph.x, graph.edge_index, {})
    ours = Extractor(predictor, Graph(graph.x, graph.edge_index))
    truncated = Extractor(predictor, Graph(graph.x, graph.edge_index), halo=0, check="none")
    queries = data.paper_nodes(dataset)
    same_ours = same_truncated = right_whole = right_truncated = fell_back = 0
    largest_difference = 0.0
    started = time.perf_counter()
    for query in queries:
        cut = ours.extract(query)
        scores = predictor.scores(cut.x, cut.edge_index, {})[cut.target]
        largest_difference = max(largest_difference, float((scores - whole[query]).abs().max()))
        class_whole = int(whole[query].argmax())
        class_truncated = truncated.extract(query).predicted_class
        same_ours += int(scores.argmax()) == class_whole
        same_truncated += class_truncated == class_whole
        right_whole += class_whole == int(graph.y[query])
        right_truncated += class_truncated == int(graph.y[query])
        fell_back += cut.whole
    return {
        "dataset": dataset,
        "model": architecture,
        "queries": len(queries),
        "same_class_ours": same_ours,
        "same_class_truncated": same_truncated,
        "largest_score_difference_ours": largest_difference,
        "evaluated_on_whole_graph": fell_back,
        "accuracy_whole": right_whole / len(queries),
        "accuracy_truncated": right_truncated / len(queries),
        "seconds": time.perf_counter() - started,
    }


def table(rows: list[dict[str, object]]) -> str:
    """Return the rows as Markdown."""
    lines = [
        "# Class on the extracted graph against class on the whole graph",
        "",
        "`python benchmarks/class_agreement.py` (`make agreement`), the paper's models and query "
        f"nodes, torch {torch.__version__}.",
        "",
        "| data set | model | queries | same class, ours | same class, truncated | largest "
        "difference of a score, ours | accuracy on queries: whole graph | truncated |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        lines.append(
            f"| {row['dataset']} | {row['model']} | {row['queries']} | {row['same_class_ours']} | "
            f"{row['same_class_truncated']} | {row['largest_score_difference_ours']:.1e} | "
            f"{row['accuracy_whole']:.3f} | {row['accuracy_truncated']:.3f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run every cell and write the results."""
    torch.set_num_threads(1)
    rows = []
    for cell in CELLS:
        rows.append(agreement(*cell))
        print(rows[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "class_agreement.json").write_text(json.dumps(rows, indent=1) + "\n")
    (RESULTS / "class_agreement.md").write_text(table(rows))


if __name__ == "__main__":
    main()
