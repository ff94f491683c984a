"""Step for step what the paper's published code returned, in reference mode."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from zorro import models
from zorro.cut import Extractor
from zorro.elements import FEATURES, NODES
from zorro.evaluation import EvaluatorChoice
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import draws_of, resolve
from zorro.search import SearchResult, greedy_search, search_multiple


def golden_folder() -> Path | None:
    if "ZORRO_GOLDEN" in os.environ:
        return Path(os.environ["ZORRO_GOLDEN"])
    if os.environ.get("ZORRO_PAPER"):
        return Path(os.environ["ZORRO_PAPER"]) / "golden"
    return None


FOLDER = golden_folder()
FILES = sorted(FOLDER.glob("*.json")) if FOLDER else []


def is_of(move, kind):
    return move.element is not None and move.element.kind == kind


@pytest.mark.skipif(not FILES, reason="no golden files: set ZORRO_PAPER or ZORRO_GOLDEN")
@pytest.mark.parametrize("wanted", ["traced", "any-model"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_step_is_the_published_codes(path, wanted, paper_dir, real_graph):
    golden = json.loads(path.read_text())
    dataset = "ba-community-paper" if "ba_community" in golden["dataset"] else golden["dataset"]
    graph = real_graph(dataset)
    model = models.build(golden["model"], graph.x.size(1), int(graph.y.max()) + 1)
    models.checkpoint.load(
        model, paper_dir / "checkpoints" / f"{golden['dataset']}_{golden['model']}.safetensors"
    )
    predictor = Predictor(model)
    cut = Extractor(predictor, Graph(graph.x, graph.edge_index), halo=0, check="none").extract(
        golden["node"]
    )
    assert cut.hops == golden["hops"]
    ids = cut.candidates.tolist()
    assert ids == golden["computational_graph"]
    assert cut.predicted_class == golden["predicted_class"]

    draws = draws_of(
        resolve("published", graph.x),
        cut.candidate_x,
        seed=golden["seed"],
        query=golden["node"],
        samples=range(golden["samples"]),
        memory=1 << 30,
    )
    choice = EvaluatorChoice(predictor, wanted=wanted, memory=1 << 30)
    evaluator = choice.evaluator(cut, draws)
    assert evaluator.name == wanted
    options = {"tau": golden["tau"], "k": golden["k"]}
    if path.stem.endswith("_multi"):
        every = search_multiple(
            evaluator,
            lambda allowed: SearchResult(greedy_search(evaluator, allowed=allowed, **options)),
            tau=golden["tau"],
            max_depth=50,
        )
        found = [result.found for result in every]
    else:
        found = [greedy_search(evaluator, **options)]

    samples = golden["samples"]
    assert len(found) == len(golden["explanations"])
    for ours, theirs in zip(found, golden["explanations"], strict=True):
        moves: list[Any] = list(ours.moves)
        steps = [
            {
                "node": ids[move.element.place] if is_of(move, NODES) else None,
                "feature": move.element.place if is_of(move, FEATURES) else None,
                "fidelity": pytest.approx(move.fidelity),
            }
            for move in moves
        ]
        assert theirs["steps"] == steps
        assert [ids[row] for row in ours.selection.rows.tolist()] == theirs["nodes"]
        assert ours.selection.columns.tolist() == theirs["features"]

    first = found[0]
    node_fidelity = {str(ids[row]): hits / samples for row, hits in first.rankings[NODES].items()}
    assert node_fidelity == pytest.approx(golden["initial_node_fidelity"])
    top = golden["initial_feature_fidelity_top30"]
    ranking = list(first.rankings[FEATURES].items())[: len(top)]
    assert [str(column) for column, _ in ranking] == list(top)
    assert [hits / samples for _, hits in ranking] == pytest.approx(list(top.values()))
