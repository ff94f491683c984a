"""Many perturbed inputs of one query in few runs of the model."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from zorro.elements import Selection
from zorro.evaluation import EvaluatorChoice
from zorro.methods.subject import Subject
from zorro.model.memory import default_budget
from zorro.model.predictor import probabilities
from zorro.noise import Draws
from zorro.noise.draws import JoinedDraws

logger = logging.getLogger(__name__)

# On a CPU a batch that leaves the caches is slower than several that do not.
_CPU_BATCH = 1 << 25
# What a row of states takes besides its features: layers are about this wide.
_USUAL_WIDTH = 64
_MOST_KNOWN = 1 << 21  # outputs that are remembered, some hundred megabytes


class ZeroFilled:
    """Inputs (S, n, d) that keep the rows of a mask and are zero elsewhere.

    They stand where an evaluator takes noise: with nothing selected, it runs them as they are.

    Args:
        x: (n, d), the candidates' true features.
        masks: (S, n) bool, the rows that are kept.
    """

    def __init__(self, x: Tensor, masks: Tensor) -> None:
        self._x = x
        self._masks = masks

    @property
    def shape(self) -> tuple[int, int, int]:
        """Samples, candidate nodes and features."""
        return self._masks.size(0), self._x.size(0), self._x.size(1)

    @property
    def cost_per_sample(self) -> float:
        """What an input costs: nothing is drawn."""
        return float(self._x.size(0))

    def columns(self, columns: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return some columns of some nodes (v,), all when None, as (k, v, S)."""
        kept = self._masks.t() if rows is None else self._masks[:, rows].t()  # (v, S)
        x = self._x if rows is None else self._x[rows]
        return kept * x[:, columns].t().unsqueeze(2)

    def matrices(self, samples: Tensor) -> Tensor:
        """Return some inputs whole, (q, n, d)."""
        return self._masks[samples].unsqueeze(2) * self._x

    def times(self, weight: Tensor) -> Tensor:
        """Return the inputs times a weight (d, h), as (n, S, h)."""
        kept = self._masks.t().contiguous()  # or the product is laid out by sample
        return kept.unsqueeze(2) * (self._x @ weight).unsqueeze(1)

    def transposed_times(self, values: Tensor, rows: Tensor) -> Tensor:
        """Return Σ_s Z_sᵀ V_s over some rows (v,) of the inputs, for values (v, S, h)."""
        kept = (values * self._masks[:, rows].t().unsqueeze(2)).sum(1)  # (v, h)
        return self._x[rows].t() @ kept

    def only(self, samples: Tensor) -> ZeroFilled:
        """Return some inputs (q,) alone."""
        return ZeroFilled(self._x, self._masks[samples])

    def joined(self, others: Sequence[Draws]) -> JoinedDraws:
        """Return these inputs and others."""
        return JoinedDraws([self, *others])


class MaskedRuns:
    """Runs the query's prediction on inputs that keep some candidates and zero the others.

    The context keeps its features. The traced evaluator serves where it can: it computes the
    first layer's linear part once for all masks.

    Args:
        subject: the prediction.
        memory: bytes that one run may take, roughly; a quarter of what is free when None.
    """

    def __init__(self, subject: Subject, *, memory: int | None = None) -> None:
        graph = subject.graph
        self._graph = graph
        self._memory = default_budget(graph.x.device) if memory is None else memory
        self._choice = EvaluatorChoice(subject.predictor, wanted="auto", memory=self._memory)
        self._known: dict[bytes, float] = {}
        self._nothing = Selection.empty(subject.candidates, graph.x.size(1), device=graph.x.device)
        # An evaluator keeps about this much of each input; what runs it has bounds of its own.
        row = 2 * subject.candidates * (graph.x.size(1) + _USUAL_WIDTH)
        self._at_once = _at_once(subject, row, self._memory)

    def probabilities(self, masks: Tensor) -> Tensor:
        """Return the predicted class's probability (b,) on inputs that keep masks (b, n).

        An input that was run before is not run again.
        """
        keys = [row.tobytes() for row in np.packbits(masks.cpu().numpy(), axis=1)]
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        known = self._known
        new = {key: row for row, key in enumerate(keys) if key not in known}
        if new:
            outputs = self._run(masks[torch.tensor(list(new.values()), device=masks.device)])
            known.update(zip(new, outputs.tolist(), strict=True))
        values = [known[key] for key in keys]
        return torch.tensor(values, dtype=self._graph.x.dtype, device=masks.device)

    def _run(self, masks: Tensor) -> Tensor:
        graph = self._graph
        parts = []
        for start in range(0, masks.size(0), self._at_once):
            some = masks[start : start + self._at_once].to(graph.x.device)
            evaluator = self._choice.evaluator(graph, ZeroFilled(graph.candidate_x, some))
            scores = evaluator.scores(self._nothing)  # (b, C)
            parts.append(probabilities(scores)[:, graph.predicted_class])
        return torch.cat(parts)


def scores_everywhere(
    subject: Subject, inputs: Iterator[Tensor], *, memory: int | None = None
) -> Iterator[Tensor]:
    """Yield the class scores that the model gives for each input (n, d), run in batches.

    They are those of all candidates (n, C), or of the one graph (1, C).

    A model whose copies of the graph influence each other in one batch is run on one input at a
    time.

    Args:
        subject: the prediction, on whose computational graph the model is run.
        inputs: the candidates' features, one perturbed matrix after the other.
        memory: bytes that one run may take, roughly; a quarter of what is free when None.
    """
    budget = default_budget(subject.graph.x.device) if memory is None else memory
    at_once = _inputs_at_once(subject, budget)
    checked = False
    batch: list[Tensor] = []
    for x in inputs:
        batch.append(x)
        if at_once > 1 and not checked and len(batch) == 2:
            checked = True
            if not _independent(subject, batch):
                at_once = 1
        if len(batch) >= at_once:
            yield from _run(subject, batch, at_once)
            batch = []
    yield from _run(subject, batch, at_once)


def _independent(subject: Subject, pair: list[Tensor]) -> bool:
    """Whether two copies of the graph in one batch give each what it gives alone."""
    together = torch.stack([*_run(subject, pair, 2)])
    alone = torch.stack([*_run(subject, pair, 1)])
    independent = subject.predictor.same(together, alone)
    if not independent:
        logger.warning(
            "%s: copies of the graph in one batch influence each other, so perturbed inputs are "
            "run one by one",
            subject.graph.asked,
        )
    return independent


def _run(subject: Subject, inputs: list[Tensor], at_once: int) -> Iterator[Tensor]:
    """Yield the scores on each input (n, d), `at_once` copies a run."""
    graph = subject.graph
    readout, rows = graph.readout, graph.x.size(0)
    for start in range(0, len(inputs), at_once):
        x = torch.stack(inputs[start : start + at_once])  # (b, n, d)
        count = x.size(0)
        context = graph.x[subject.candidates :].expand(count, -1, -1)  # (b, c, d)
        offset = torch.arange(count, device=x.device) * rows
        edges = graph.edge_index.unsqueeze(1) + offset.view(1, -1, 1)  # (2, b, e)
        scores = subject.predictor.scores(
            torch.cat([x, context], dim=1).flatten(0, 1),
            edges.flatten(1),
            {**graph.model_inputs.copies(count), **readout.inputs(count, rows, x.device)},
            rows=readout.count(count, rows),
        )
        yield from scores.view(count, -1, scores.size(1))[:, : subject.candidates]


def _inputs_at_once(subject: Subject, memory: int) -> int:
    """Return how many copies of the graph, with states and messages, fit into a run."""
    graph = subject.graph
    states = 2 * graph.x.size(0) * (graph.x.size(1) + _USUAL_WIDTH)
    messages = graph.edge_index.size(1) * _USUAL_WIDTH
    return _at_once(subject, states + messages, memory)


def _at_once(subject: Subject, numbers: int, memory: int) -> int:
    x = subject.graph.x
    if x.device.type == "cpu":
        memory = min(memory, _CPU_BATCH)
    return max(1, memory // (numbers * x.element_size()))
