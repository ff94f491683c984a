"""Does a traced program give what its model gives?"""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.cut import ComputationalGraph
from zorro.elements import FEATURES, NODES, Element, Selection
from zorro.evaluation.batched import BatchedEvaluator
from zorro.evaluation.traced.evaluator import TracedEvaluator
from zorro.evaluation.traced.layers import Unserved
from zorro.evaluation.traced.program import Program
from zorro.model.predictor import Predictor
from zorro.noise import Draws
from zorro.noise.draws import DenseDraws
from zorro.question.event import Event

_LARGE, _VERY_LARGE = 1 << 19, 1 << 20  # entries of the graph's features


def check(
    predictor: Predictor,
    program: Program,
    graph: ComputationalGraph,
    draws: Draws,
    event: Event | None,
    *,
    memory: int,
) -> None:
    """Raise `Unserved` unless a program gives the model's scores on this query.

    Both are run on a few samples with nothing selected, with half of everything selected, and
    with a node and a feature added to it and taken out; on a large graph on one sample. On a very
    large one the model itself is run with half of everything selected alone: what the traced
    scores of the rest are compared with is what the program gives for them from the beginning.
    """
    entries = graph.x.numel()
    samples = min(1 if entries > _LARGE else 3, draws.shape[0])
    few = DenseDraws(draws.matrices(torch.arange(samples, device=graph.x.device)))
    independent = not program.looks_at_all_nodes
    asked = BatchedEvaluator(
        predictor, graph, few, memory=memory, event=event, independent=independent
    )
    try:
        traced = TracedEvaluator(
            predictor, program, graph, few, asked, memory=memory, always_by_row=True
        )
        selections, ours = _trial(traced, each=1 if entries > _LARGE else 2)
        run = selections[:1] if entries > _VERY_LARGE else selections
        again = [traced.scores(selection) for selection in selections[len(run) :]]
    except (RuntimeError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise Unserved(f"it failed when traced: {type(error).__name__}: {error}") from error
    noise = few.matrices(torch.arange(few.shape[0], device=graph.x.device))
    inputs = [torch.where(selection.mask, graph.candidate_x, noise) for selection in run]
    theirs = torch.cat([asked.run(torch.cat(inputs)), *again])
    if not predictor.same(ours, theirs):
        worst = int((ours - theirs).abs().amax(-1).argmax())
        raise Unserved(
            f"its traced scores {[round(float(v), 4) for v in ours[worst]]} are not the model's "
            f"{[round(float(v), 4) for v in theirs[worst]]}"
        )
    off = (ours - theirs).abs().amax(-1) / (1 + theirs.abs().amax(-1))
    program.deviation = float(off.nan_to_num(0.0).max())


def _trial(traced: TracedEvaluator, *, each: int) -> tuple[list[Selection], Tensor]:
    """Return selections, half of everything first, and their scores, one below the other.

    Args:
        traced: the evaluator that is tried.
        each: elements of each kind that are toggled.
    """
    generator = torch.Generator().manual_seed(0)
    half = Selection.of(
        torch.rand(traced.shape[0], generator=generator).to(traced.device) < 0.5,
        torch.rand(traced.shape[1], generator=generator).to(traced.device) < 0.5,
    )
    row = _one_of_each(half.nodes)[:each]
    column = _one_of_each(half.features)[:each]
    scores = torch.cat(
        [
            traced.scores(half),
            traced.scores(traced.nothing),
            *traced.scores_toggling(half, NODES, row),
            *traced.scores_toggling(half, FEATURES, column),
        ]
    )
    selections = [
        half,
        traced.nothing,
        *[half.toggled(Element(NODES, int(index))) for index in row],
        *[half.toggled(Element(FEATURES, int(index))) for index in column],
    ]
    return selections, scores


def _one_of_each(mask: Tensor) -> Tensor:
    """Return a place where a mask is true and one where it is not, as far as there are."""
    return torch.cat([mask.nonzero().flatten()[:1], (~mask).nonzero().flatten()[:1]])
