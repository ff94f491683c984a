"""What explanations lie in: which nodes could be kept, of which kinds, with which features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from zorro.explanation import Explanation
from zorro.graph.edge_index import Edges, EdgesByReceiver, edges_of
from zorro.graph.features import Features, features_of, size_of

Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]
OWN = "own"
TRAINING, NOT_TRAINING = "training", "not training"
UNKNOWN = -1
_MOST_ENTRIES = 1 << 22  # of features that are read at once


@dataclass(frozen=True)
class Place:
    """What one explanation could have kept.

    Args:
        nodes: (n,), ids of the candidates.
        kinds: of which kind they are, (n,) each; a node may be of several.
        occurring: (d,), which features are not zero at all of them.
        present: (d,), which are not zero at all of those that are kept.
        hops: (n,), how far each is from what is asked about; None of a whole graph.
    """

    nodes: NDArray[np.int64]
    kinds: Mapping[str, Mask]
    occurring: Mask
    present: Mask
    hops: NDArray[np.int64] | None = None


class Setting(Protocol):
    """The data that a run was made with, as far as they are at hand.

    >>> import numpy as np
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import audit
    >>> from zorro.audit.setting import Place
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> class AllCanBeKept:
    ...     predicted, labels = None, club.y.numpy()
    ...
    ...     def place(self, explanation):
    ...         occurring = np.ones(4, dtype=bool)
    ...         return Place(np.arange(34), {}, occurring, occurring)
    ...
    ...     def column(self, feature):
    ...         return club.x[:, feature].double().numpy()
    ...
    ...     def truths(self):
    ...         return self.labels
    >>> votes = Zorro(SimpleConv(), club.x, club.edge_index)
    >>> audited = audit([votes.explain(9)], setting=AllCanBeKept())
    >>> audited.has_graph, audited.classes[0].features[0].expected
    (True, 0.25)
    """

    @property
    def predicted(self) -> Labels | None:
        """The model's class of each node (N,), −1 where it is not known."""
        ...

    @property
    def labels(self) -> Labels | None:
        """The true class of each node (N,), −1 where it is not known."""
        ...

    def place(self, explanation: Explanation) -> Place:
        """Return what an explanation could have kept."""
        ...

    def column(self, feature: int) -> NDArray[np.float64] | None:
        """Return a feature of each thing that can be asked about, by its number, if it has one."""
        ...

    def truths(self) -> Labels | None:
        """Return the true class of each thing that can be asked about, by its number."""
        ...


@dataclass(frozen=True)
class GraphSetting:
    """One graph whose nodes or links are asked about.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Zorro
    >>> from zorro.audit import GraphSetting
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> setting = GraphSetting(club.x, club.edge_index, training=club.train_mask.numpy())
    >>> place = setting.place(Zorro(SimpleConv(), club.x, club.edge_index).explain(11))
    >>> place.nodes, place.hops
    (array([11,  0]), array([0, 1]))
    >>> place.kinds["training"]  # node 0 is one that the model was trained on
    array([False,  True])

    Args:
        x: (N, d), or the features of a stored graph.
        edge_index: (2, E), or its edges.
        predicted: (N,), the model's classes.
        labels: (N,), the true ones.
        training: (N,), which nodes the model was trained on.
    """

    x: Tensor | Features
    edge_index: Tensor | Edges
    predicted: Labels | None = None
    labels: Labels | None = None
    training: Mask | None = None

    @cached_property
    def _edges(self) -> EdgesByReceiver:
        return EdgesByReceiver(edges_of(self.edge_index, size_of(self.x)[0]))

    @cached_property
    def _features(self) -> Features:
        return features_of(self.x)

    def place(self, explanation: Explanation) -> Place:
        """Return the candidates of a query: all within its hops, or the whole graph."""
        seeds = torch.tensor(explanation.query.seeds)
        nodes, hops = self._within(seeds, explanation.graph.hops)
        if explanation.graph.candidates == explanation.graph.num_nodes > len(nodes):
            rest = np.setdiff1d(np.arange(explanation.graph.num_nodes), nodes)
            nodes = np.concatenate([nodes, rest])
            hops = np.concatenate([hops, np.full(len(rest), explanation.graph.hops + 1)])
        kinds = self._kinds(explanation, nodes, hops)
        present = self._occurring(np.asarray(explanation.nodes, dtype=np.int64))
        return Place(nodes, kinds, self._occurring(nodes), present, hops)

    def _within(self, seeds: Tensor, hops: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the nodes that so many messages bring near, and how many each takes."""
        reached = self._edges.neighbourhood(seeds, 0)
        found, distance = [reached.numpy()], [np.zeros(len(reached), dtype=np.int64)]
        for hop in range(1, hops + 1):
            further = self._edges.neighbourhood(reached, 1)
            new = np.setdiff1d(further.numpy(), reached.numpy(), assume_unique=True)
            found.append(new)
            distance.append(np.full(len(new), hop))
            reached = further
        return np.concatenate(found), np.concatenate(distance)

    def _kinds(
        self, explanation: Explanation, nodes: NDArray[np.int64], hops: NDArray[np.int64]
    ) -> dict[str, Mask]:
        own = hops == 0
        kinds = {OWN: own}
        for hop in range(1, int(hops.max(initial=0)) + 1):
            kinds[f"{hop} hop{'' if hop == 1 else 's'} away"] = hops == hop
        if self.predicted is not None and explanation.predicted_class is not None:
            said = self.predicted[nodes]
            kinds["same class"] = ~own & (said == explanation.predicted_class)
            kinds["other class"] = ~own & (said != explanation.predicted_class) & (said != UNKNOWN)
        if self.training is not None:
            kinds[TRAINING] = ~own & self.training[nodes]
            kinds[NOT_TRAINING] = ~own & ~self.training[nodes]
        return kinds

    def _occurring(self, nodes: NDArray[np.int64]) -> Mask:
        width = size_of(self.x)[1]
        occurs = np.zeros(width, dtype=np.bool_)
        for some in np.array_split(nodes, max(1, len(nodes) * width // _MOST_ENTRIES)):
            rows = self._features.rows(torch.from_numpy(some).to(self._features.device))
            occurs |= (rows != 0).any(0).cpu().numpy()
        return occurs

    def column(self, feature: int) -> NDArray[np.float64] | None:
        """Return a feature of every node."""
        everything = self._features.in_memory
        if everything is None:
            return None
        column = everything.to_dense() if everything.layout != torch.strided else everything
        return column[:, feature].double().cpu().numpy()

    def truths(self) -> Labels | None:
        """Return the true class of every node."""
        return self.labels


@dataclass(frozen=True)
class GraphsSetting:
    """Graphs that are asked about as wholes.

    >>> import numpy as np
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from zorro.audit import GraphsSetting
    >>> edge = torch.tensor([[0], [1]])
    >>> graphs = [Data(x=torch.eye(2)[rows], edge_index=edge) for rows in ([0, 0], [0, 1])]
    >>> setting = GraphsSetting(graphs, classes=np.array([0, 1]))
    >>> setting.column(0), setting.truths()
    (array([1. , 0.5]), array([0, 1]))

    Args:
        graphs: PyG's `Data`.
        classes: (G,), the true class of each graph, −1 where it is not known.
    """

    graphs: Sequence[Data]
    classes: Labels | None = None

    @property
    def predicted(self) -> Labels | None:
        """None: nodes of graphs have no class of their own."""
        return None

    @property
    def labels(self) -> Labels | None:
        """None, likewise."""
        return None

    def place(self, explanation: Explanation) -> Place:
        """Return all nodes of a graph."""
        x = self.graphs[explanation.query.index].x
        kept = torch.tensor(explanation.nodes, dtype=torch.long, device=x.device)
        occurs, present = ((rows != 0).any(0).cpu().numpy() for rows in (x, x[kept]))
        return Place(np.arange(x.size(0)), {}, occurs, present)

    def column(self, feature: int) -> NDArray[np.float64] | None:
        """Return the mean of a feature over the nodes of every graph."""
        means = [float(graph.x[:, feature].double().mean()) for graph in self.graphs]
        return np.asarray(means, dtype=np.float64)

    def truths(self) -> Labels | None:
        """Return the true class of every graph."""
        return self.classes
