"""A recording in the form in which only what a candidate changes is computed."""

from __future__ import annotations

from collections.abc import Mapping

import scipy.sparse as sp
import torch
from torch import Tensor, fx

from zorro.cut import ComputationalGraph
from zorro.evaluation.recorded.linear import Linear, linear_values
from zorro.evaluation.recorded.recording import NotRecordedError, record
from zorro.evaluation.recorded.slicing import Sliced, sliced
from zorro.evaluation.traced.change import Change
from zorro.evaluation.traced.plan import Mixing, Plan
from zorro.evaluation.traced.presence import Presence
from zorro.evaluation.traced.program import Activations, Program
from zorro.evaluation.traced.tables import Known
from zorro.model.predictor import Predictor

_WIDEST = 1 << 22  # numbers of features that are read as they are, not by a linear map


class RecordedProgram(Program):
    """A model's run on one query's graph, for many inputs at once.

    Its entries are the values at which the recording stops being linear in the features: the
    evaluator supplies them, and what follows runs under `torch.func.vmap`.

    Args:
        predictor: the model.
        graph: the query's computational graph.
    """

    name = "recorded"
    holds_on_other_graphs = False  # the model may ask how many nodes there are

    def __init__(self, predictor: Predictor, graph: ComputationalGraph) -> None:
        readout, nodes = graph.readout, graph.x.size(0)
        if list(readout.wanted) != sorted(set(readout.wanted)):
            raise NotRecordedError("its answer is read off rows that are not in ascending order")

        def run(x: Tensor) -> Tensor:
            return predictor.scores(
                x,
                graph.edge_index,
                graph.further_inputs,
                rows=readout.count(1, nodes),
                each=readout.each,
            )

        recording = record(run, graph.x)
        device = graph.x.device
        whole = sliced(recording, torch.tensor(readout.wanted, device=device))
        rows = torch.arange(nodes, device=device) if whole.rows is None else whole.rows
        linear = linear_values(whole.operations, rows=rows.numel())
        rest = [one for one in whole.operations if not set(one.results) <= linear.keys()]
        read = {number for operation in rest for number in operation.read} | {whole.output}
        # Named as the evaluator names the entries of other programs: by nodes of a graph.
        names = fx.Graph()
        self._numbers = {
            names.placeholder(f"value_{number}"): number for number in sorted(read & linear.keys())
        }
        if not self._numbers:
            raise NotRecordedError("its output does not depend on the features")
        self.entries = {
            node: _plan(linear[number], rows, graph) for node, number in self._numbers.items()
        }
        self._rest = Sliced(rest, whole.output, None)
        self._kept = {}
        self.edges_vary = False
        self.refuted = ""
        self.deviation = 0.0

    @property
    def looks_at_all_nodes(self) -> bool:
        """Inputs are computed beside one another, so that none depends on others."""
        return False

    def run(
        self,
        states: Mapping[fx.Node, Tensor],
        activations: Activations | None = None,
        presence: Presence | None = None,
        known: Known | None = None,
    ) -> Tensor:
        """Return the output (r, B, K) for the query from the entries' states, each (q, B, h)."""

        def run_one(*values: Tensor) -> Tensor:
            return self._rest.run_from(dict(zip(self._numbers.values(), values, strict=True)))

        output: Tensor = torch.func.vmap(run_one, in_dims=1, out_dims=1)(
            *(states[node] for node in self._numbers)
        )
        return output

    def run_changes(
        self,
        changes: Mapping[fx.Node, Change],
        activations: Activations,
        presence: Presence | None = None,
        *,
        always_by_row: bool = False,
    ) -> Tensor:
        """Return the output (r, P, K) of inputs that differ little from recorded samples."""
        return self.run({node: change.states() for node, change in changes.items()})


def _plan(value: Linear, rows: Tensor, graph: ComputationalGraph) -> Plan:
    """Return a linear value as Σ_k A_k X W_k + b over those rows of the features that it reads.

    Args:
        value: over the rows that the recording reads.
        rows: which of the graph these are.
        graph: of the query.
    """
    read = sp.csr_matrix(sum(abs(term.matrix) for term in value.terms)).sum(0).A1.nonzero()[0]
    if any(term.weight is None for term in value.terms) and len(read) * graph.x.size(1) > _WIDEST:
        raise NotRecordedError(f"it reads all features of {len(read)} nodes as they are")
    return Plan(
        needs=rows[torch.as_tensor(read, device=rows.device)],
        mixings=tuple(
            Mixing(term.matrix[:, read], device=graph.x.device, dtype=graph.x.dtype)
            for term in value.terms
        ),
        weights=tuple(term.weight for term in value.terms),
        bias=value.constant,
    )
