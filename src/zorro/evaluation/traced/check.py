"""Does a traced program give what its model gives?"""

from __future__ import annotations

import torch
from torch import Tensor

from zorro.cut import ComputationalGraph
from zorro.elements import EDGES, KEPT, Element, Kind, Selection, Space
from zorro.evaluation.batched import BatchedEvaluator, Copies
from zorro.evaluation.traced.evaluator import TracedEvaluator
from zorro.evaluation.traced.program import Program
from zorro.evaluation.traced.unserved import Unserved, in_what_they_differ, unless_it_fails
from zorro.model.predictor import Predictor
from zorro.noise import Draws
from zorro.noise.draws import DenseDraws
from zorro.noise.edges import EdgesOfSamples
from zorro.noise.of_edges import AnyEdgeDraws
from zorro.question.event import Event

_WITH_EDGES = 7  # samples: as many as a model has parts that it stacks would hide that it does
_LARGE, _VERY_LARGE = 1 << 19, 1 << 20  # entries of the graph's features


def check(
    predictor: Predictor,
    program: Program,
    graph: ComputationalGraph,
    draws: Draws,
    event: Event | None,
    *,
    edges: AnyEdgeDraws | None = None,
    memory: int,
) -> None:
    """Raise `Unserved` unless a program gives the model's scores on this query.

    Both are run on a few samples with nothing selected, with half of everything selected, and with
    a node, a feature and an edge added to it and taken out; on a large graph on one sample. On a
    very large one the model itself is run with half of everything selected alone: what the traced
    scores of the rest are compared with is what the program gives for them from the beginning.
    """
    entries = graph.x.numel()
    usual = 3 if edges is None else _WITH_EDGES
    samples = min(1 if entries > _LARGE else usual, draws.shape[0])
    every = torch.arange(samples, device=graph.x.device)
    few = DenseDraws(draws.matrices(every))
    few_edges = None if edges is None else edges.only(every)
    kinds: tuple[Kind, ...] = KEPT if edges is None else (*KEPT, EDGES)
    space = Space(
        graph.candidates.numel(),
        graph.x.size(1),
        kinds=kinds,
        edges=0 if edges is None else edges.edges.count,
        device=graph.x.device,
    )
    asked = BatchedEvaluator(
        predictor,
        graph,
        few,
        edges=few_edges,
        memory=memory,
        event=event,
        space=space,
        copies=Copies(program.holds_on_other_graphs and not program.looks_at_all_nodes),
    )

    def tried() -> tuple[Tensor, list[Selection], list[Tensor]]:
        traced = TracedEvaluator(
            predictor, program, graph, few, asked, memory=memory, always_by_row=True
        )
        selections, ours = _trial(traced, each=1 if entries > _LARGE else 2)
        run = selections[:1] if entries > _VERY_LARGE else selections
        again = [traced.scores(selection) for selection in selections[len(run) :]]
        return ours, run, again

    ours, run, again = unless_it_fails(tried)
    noise = few.matrices(every)
    theirs = torch.cat(
        [
            asked.run(
                torch.cat([torch.where(one.mask, graph.candidate_x, noise) for one in run]),
                EdgesOfSamples.joined([asked.edges_under(one) for one in run]),
            ),
            *again,
        ]
    )
    if not predictor.same(ours, theirs):
        worst = int((ours - theirs).abs().amax(-1).argmax())
        raise Unserved(in_what_they_differ(ours[worst], theirs[worst]))
    off = (ours - theirs).abs().amax(-1) / (1 + theirs.abs().amax(-1))
    program.deviation = float(off.nan_to_num(0.0).max())


def _trial(traced: TracedEvaluator, *, each: int) -> tuple[list[Selection], Tensor]:
    """Return selections, half of everything first, and their scores, one below the other.

    Args:
        traced: the evaluator that is tried.
        each: elements of each kind that are toggled.
    """
    generator = torch.Generator().manual_seed(0)
    half = Selection(
        traced.space,
        {
            kind: torch.rand(size, generator=generator).to(traced.device) < 0.5
            for kind, size in traced.space.sizes.items()
        },
    )
    members = {kind: _one_of_each(mask)[:each] for kind, mask in half.masks.items()}
    scores = torch.cat(
        [
            traced.scores(half),
            traced.scores(traced.nothing),
            *(
                one
                for kind, some in members.items()
                for one in traced.scores_toggling(half, kind, some)
            ),
        ]
    )
    selections = [
        half,
        traced.nothing,
        *(
            half.toggled(Element(kind, index))
            for kind, some in members.items()
            for index in some.tolist()
        ),
    ]
    return selections, scores


def _one_of_each(mask: Tensor) -> Tensor:
    """Return a place where a mask is true and one where it is not, as far as there are."""
    return torch.cat([mask.nonzero().flatten()[:1], (~mask).nonzero().flatten()[:1]])
