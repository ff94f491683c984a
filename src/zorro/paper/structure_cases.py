"""Where it is known which edges decide: models, queries that they answer rightly, and the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from zorro.data.edge_truth import NO_MOTIF
from zorro.data.mutagenic_groups import edges_in_groups
from zorro.explainer import Zorro
from zorro.methods.subject import Subject
from zorro.methods.subjects import Subjects
from zorro.metrics import UndirectedEdges
from zorro.models.edge_inputs import edge_inputs
from zorro.models.graph_evaluation import graph_inputs, graph_scores
from zorro.paper.cells import NodeCell
from zorro.paper.graph_cells import GraphCell, loaded_graphs
from zorro.paper.jobs import Place, loaded
from zorro.paper.molecules import truths_of

TRAINING = 50  # queries that PGExplainer is trained on


@dataclass(frozen=True)
class Truth:
    """The undirected edges that a prediction should rest on.

    Args:
        own: (t, m) bool, each row an acceptable truth: the edges of the query's motif.
        any: (t, m) bool, likewise with the edges of all motifs that the query can see.
    """

    own: Tensor
    any: Tensor


class Case(Protocol):
    """A model on data with known edges."""

    @property
    def cell(self) -> NodeCell | GraphCell:
        """The model and its data."""
        ...

    @property
    def motif_nodes(self) -> int:
        """How many nodes a motif has; the most that a subgraph may have which is to be one."""
        ...

    def queries(self, count: int, *, seed: int) -> tuple[int, ...]:
        """Return some queries with a motif that the model answers rightly, in a random order."""
        ...

    def training_queries(self) -> tuple[int, ...]:
        """Return queries with a motif that the model was trained on."""
        ...

    def subjects(self, place: Place) -> Subjects:
        """Return the model's predictions."""
        ...

    def zorro(self, place: Place, **options: Any) -> Zorro:
        """Return what explains the model's predictions."""
        ...

    def truth(self, subject: Subject, edges: UndirectedEdges) -> Truth:
        """Return which edges of a prediction's computational graph are in motifs."""
        ...


@dataclass(frozen=True)
class NodeCase:
    """A node classifier on a graph with motifs; what is asked about are nodes of these."""

    cell: NodeCell
    motif_nodes: int

    def queries(self, count: int, *, seed: int) -> tuple[int, ...]:
        """Return nodes of motifs whose class the model knows."""
        model, data = loaded(self.cell)
        with torch.no_grad():
            right = model(data.x, data.edge_index).argmax(1) == data.y  # (N,)
        return _drawn(right & (data.motif != NO_MOTIF), count, seed=seed)

    def training_queries(self) -> tuple[int, ...]:
        """Return nodes of motifs among the training nodes."""
        _, data = loaded(self.cell)
        return _drawn(data.train_mask & (data.motif != NO_MOTIF), TRAINING, seed=0)

    def subjects(self, place: Place) -> Subjects:
        """Return the model's predictions for nodes."""
        model, data = loaded(self.cell, place.device)
        inputs = edge_inputs(model, data).passed
        return Subjects(model, data.x, data.edge_index, seed=place.seed, model_kwargs=inputs)

    def zorro(self, place: Place, **options: Any) -> Zorro:
        """Return what explains the model's predictions for nodes."""
        model, data = loaded(self.cell, place.device)
        inputs = edge_inputs(model, data).passed
        return Zorro(model, data.x, data.edge_index, model_kwargs=inputs, **options)

    def truth(self, subject: Subject, edges: UndirectedEdges) -> Truth:
        """Return the edges whose ends are both in the query's motif, and those inside of any."""
        _, data = loaded(self.cell)
        graph = subject.graph
        motif = data.motif[torch.cat([graph.candidates, graph.context]).cpu()]  # (n + c,)
        first, second = motif[edges.ends.cpu()].t()  # (m,)
        inside = (first == second) & (first != NO_MOTIF)
        own = inside & (first == motif[graph.target])
        return Truth(own.unsqueeze(0), inside.unsqueeze(0))


@dataclass(frozen=True)
class GraphCase:
    """A classifier of graphs, each of which has a motif of its own, or may have.

    Args:
        cell: the model and its graphs.
        motif_nodes: how many nodes a motif has.
        label: of graphs that are asked about; any when None.
    """

    cell: GraphCell
    motif_nodes: int
    label: int | None = None

    def queries(self, count: int, *, seed: int) -> tuple[int, ...]:
        """Return test graphs with a motif whose class the model knows."""
        model, dataset = loaded_graphs(self.cell)
        right = torch.zeros(len(dataset.graphs), dtype=torch.bool)
        found = graph_scores(model, dataset, dataset.test).argmax(1)  # (k,)
        right[dataset.test] = found == dataset.targets[dataset.test]
        return _drawn(right & self._with_motif(), count, seed=seed)

    def training_queries(self) -> tuple[int, ...]:
        """Return training graphs with a motif."""
        _, dataset = loaded_graphs(self.cell)
        trained = torch.zeros(len(dataset.graphs), dtype=torch.bool)
        trained[dataset.train] = True
        return _drawn(trained & self._with_motif(), TRAINING, seed=0)

    def subjects(self, place: Place) -> Subjects:
        """Return the model's predictions for graphs."""
        model, dataset = loaded_graphs(self.cell, place.device)
        inputs: Mapping[str, Any] = {name: name for name in graph_inputs(model, dataset).passed}
        return Subjects.of_graphs(model, dataset.graphs, seed=place.seed, model_kwargs=inputs)

    def zorro(self, place: Place, **options: Any) -> Zorro:
        """Return what explains the model's predictions for graphs."""
        model, dataset = loaded_graphs(self.cell, place.device)
        inputs: Mapping[str, Any] = {name: name for name in graph_inputs(model, dataset).passed}
        return Zorro.of_graphs(model, dataset.graphs, model_kwargs=inputs, **options)

    def truth(self, subject: Subject, edges: UndirectedEdges) -> Truth:
        """Return the edges of a graph's motif, a row for each acceptable truth."""
        every = known_edges(self.cell)[subject.graph.query]  # (t, e)
        rows = [edges.any(one.to(edges.of_column.device)).cpu() for one in every]
        truths = torch.stack(rows) if rows else torch.empty(0, edges.count, dtype=torch.bool)
        return Truth(truths, truths)

    def _with_motif(self) -> Tensor:
        """Return which graphs (B,) are of the label and have edges of the truth, and others."""
        _, dataset = loaded_graphs(self.cell)
        of_label = torch.tensor([self.label in (None, int(label)) for label in dataset.targets])
        tells = [bool(len(every)) for every in known_edges(self.cell)]
        return of_label & torch.tensor(tells)


@cache
def known_edges(cell: GraphCell) -> list[Tensor]:
    """Return the truths (t, E) of each graph of a cell that are some of its edges and not all."""
    _, dataset = loaded_graphs(cell)
    truths = _TRUTHS[cell.dataset](dataset.graphs)
    return [every[every.any(1) & ~every.all(1)] for every in truths]


def _ring_edges(molecule: Data) -> Tensor:
    """Return the edges (t, E) whose atoms are both in a ring that is the truth."""
    sender, receiver = molecule.edge_index
    atoms = truths_of(molecule)  # (t, n)
    return atoms[:, sender] & atoms[:, receiver]


_TRUTHS: dict[str, Callable[[Sequence[Data]], list[Tensor]]] = {
    "ba-2motifs": lambda graphs: [graph.edge_truth.unsqueeze(0) for graph in graphs],
    "benzene": lambda graphs: [_ring_edges(graph) for graph in graphs],
    "mutagenicity": lambda graphs: [one.unsqueeze(0) for one in edges_in_groups(graphs)],
}


def _drawn(these: Tensor, count: int, *, seed: int) -> tuple[int, ...]:
    """Return at most `count` of the numbers in a mask, in a random order."""
    numbers = these.nonzero().flatten().numpy()
    return tuple(np.random.default_rng(seed).permutation(numbers)[:count].tolist())
