"""The torch_geometric.explain plug-in: Zorro as an algorithm of PyG's `Explainer`."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Sequence
from functools import reduce
from typing import Any, get_args

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.explain import Explanation as PygExplanation
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import (
    ExplanationType,
    ModelMode,
    ModelReturnType,
    ModelTaskLevel,
)

from zorro.errors import InputError
from zorro.explainer import Zorro
from zorro.explanation import Explanation, MaskType
from zorro.graph.extras import Extras
from zorro.model.predictor import Predictor
from zorro.question.reading import Classes

_KNOWN_TO_PYG = {
    "threshold": "follows from the return_type of PyG's model_config",
    "model_kwargs": "are the further arguments with which PyG's Explainer is called",
}
_OPTIONS = [
    name
    for name, parameter in inspect.signature(Zorro).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY and name not in _KNOWN_TO_PYG
]


class ZorroExplainer(ExplainerAlgorithm):  # type: ignore[misc]  # PyG ships no types
    """Explains classifications of nodes and of graphs with Zorro, behind PyG's `Explainer`.

    >>> import torch
    >>> from torch_geometric.explain import Explainer
    >>> from torch_geometric.nn import SimpleConv
    >>> explainer = Explainer(
    ...     SimpleConv(),  # a node's scores are the sum of its neighbours' features
    ...     ZorroExplainer(tau=0.85, seed=0),
    ...     explanation_type="model",
    ...     node_mask_type="attributes",
    ...     model_config=dict(
    ...         mode="multiclass_classification", task_level="node", return_type="raw"
    ...     ),
    ... )
    >>> explanation = explainer(torch.eye(3), torch.tensor([[0, 1, 2], [1, 2, 0]]), index=1)
    >>> explanation.node_mask.nonzero().tolist()
    [[0, 0]]
    >>> explanation.zorro[1]
    Explanation(node 1 → class 0: 1 nodes × 1 features, fidelity 1.00 [0.99, 1.00], certified)

    The mask is of zeros and ones on the whole graph's ids: with `node_mask_type` `attributes` it
    is the explanation V_s ⊗ F_s (N, d); `object` keeps only V_s (N, 1) and `common_attributes`
    only F_s (1, d). `explanation.zorro` holds the `zorro.Explanation` of each node of `index`, by
    its id. With several nodes the mask is the union of theirs; the fidelity τ is that of each
    explanation on its own, not of the union. One call for many nodes is faster than many calls,
    which prepare the graph anew each time.

    With `task_level="graph"` the graphs are those of `batch`, `index` says which of them are
    explained (all when None), and `explanation.zorro` holds an explanation of each by its number.
    Noise is drawn from the nodes of the batch and of `graphs`: one graph alone is refused.

    A `phenomenon` can be explained where the model predicts it: RDT-fidelity is the probability
    that the model keeps to the class, and a class that it does not predict has none to keep.

    PyG's `fidelity` sets what is not selected to zero and is not RDT-fidelity; its
    `visualize_graph` needs an edge mask, which sets of nodes and features do not have; its
    `get_explanation_subgraph` needs a mask of all nodes, so not `common_attributes`.

    Args:
        graphs: at graph level, further graphs from whose nodes noise is drawn: the data set.
        options: those of `zorro.Zorro` (`tau`, `samples`, `noise`, `seed`, …) except `threshold`
            and `model_kwargs`, which PyG's `model_config` and call determine.
    """

    def __init__(self, *, graphs: Sequence[Data] = (), **options: Any) -> None:
        super().__init__()
        self._graphs = graphs
        for name in options:
            if name in _KNOWN_TO_PYG:
                raise InputError(f"{name}: not an option here, {name} {_KNOWN_TO_PYG[name]}")
            if name not in _OPTIONS:
                raise InputError(f"{name}: expected one of the options {', '.join(_OPTIONS)}")
        # Zorro checks its own options; any graph will do, and the model is not called.
        Zorro(nn.Identity(), torch.zeros(1, 1), torch.empty(2, 0, dtype=torch.long), **options)
        self.options = options

    def forward(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> PygExplanation:
        """Explain the model's prediction for each node, or each graph, of `index`.

        Args:
            model: called as `model(x, edge_index, **kwargs)`.
            x: (N, d).
            edge_index: (2, E).
            target: the classes to explain, of all nodes (N,) or of all graphs (B,).
            index: what to explain: one number, or several (k,); at graph level all when None.
            kwargs: further arguments of the model; node- and edge-level tensors follow. At graph
                level `batch` (N,) says to which graph each node belongs.
        """
        if self.model_config.task_level == ModelTaskLevel.graph:
            return self._of_graphs(model, x, edge_index, target, index, kwargs)
        threshold = self._threshold
        zorro = Zorro(
            model, x, edge_index, threshold=threshold, model_kwargs=kwargs, **self.options
        )
        nodes = _nodes(index, x.size(0))
        targets = _targets(target, x.size(0))
        if self.explainer_config.explanation_type == ExplanationType.phenomenon:
            # Labels are often not what the model predicts: say so before the search.
            scores = Predictor(model, reading=Classes(threshold)).scores(
                x, edge_index, kwargs
            )  # (N, C)
            for node in nodes:
                predicted = int(scores[node].argmax())
                self._refuse_unpredicted(f"node {node}", predicted, targets[node])
        explanations: dict[int, Explanation] = {}
        for node in nodes:
            explanations[node] = zorro.explain(node)
            predicted = explanations[node].predicted_class
            self._refuse_unpredicted(f"node {node}", predicted, targets[node])
        return PygExplanation(
            node_mask=self._union(explanations).to(x),
            # By id and not in a list: PyG takes a list as long as the graph for a node attribute.
            zorro=explanations,
        )

    @property
    def _threshold(self) -> float:
        """Where a model with one column draws the line, as in PyG's `Explainer.get_target`."""
        return 0.5 if self.model_config.return_type == ModelReturnType.probs else 0.0

    def _of_graphs(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Tensor,
        target: Tensor,
        index: int | Tensor | None,
        kwargs: dict[str, Any],
    ) -> PygExplanation:
        """Explain the model's answer for each graph of `index`."""
        kwargs = dict(kwargs)
        given = kwargs.pop("batch", None)
        batch = torch.zeros_like(edge_index[0, :1]).expand(x.size(0)) if given is None else given
        parts = _parts(x, edge_index, batch, kwargs)
        zorro = Zorro.of_graphs(
            model,
            [*parts, *self._graphs],
            threshold=self._threshold,
            model_kwargs=_named(kwargs, parts[0]),
            **self.options,
        )
        numbers = list(range(len(parts))) if index is None else _nodes(index, len(parts), "graph")
        targets = _targets(target, len(parts), "graph")
        explanations: dict[int, Explanation] = {}
        mask_type = self.explainer_config.node_mask_type.value
        masks = []
        for number in numbers:
            found = explanations[number] = zorro.explain(number)
            self._refuse_unpredicted(f"graph {number}", found.predicted_class, targets[number])
            mask = found.to_pyg(node_mask_type=mask_type).node_mask
            if mask_type == "common_attributes":
                masks.append(mask)
            else:
                placed = mask.new_zeros(x.size(0), mask.size(1))
                placed[(batch == number).cpu()] = mask
                masks.append(placed)
        return PygExplanation(node_mask=reduce(torch.maximum, masks).to(x), zorro=explanations)

    def supports(self) -> bool:
        """Whether PyG's configuration can be served; if not, the log says why."""
        explainer, model = self.explainer_config, self.model_config
        objections = []
        if model.task_level not in (ModelTaskLevel.node, ModelTaskLevel.graph):
            objections.append(
                f"only tasks of node and graph level (got task_level {model.task_level.value!r})"
            )
        if model.mode == ModelMode.regression:
            objections.append(f"only classification (got mode {model.mode.value!r})")
        if explainer.edge_mask_type is not None:
            objections.append(
                "no edge mask, since its explanations are sets of nodes and features "
                f"(got edge_mask_type {explainer.edge_mask_type.value!r})"
            )
        mask_type = explainer.node_mask_type and explainer.node_mask_type.value
        if mask_type not in get_args(MaskType):
            objections.append(
                f"only node masks of type {', '.join(get_args(MaskType))} "
                f"(got node_mask_type {mask_type!r})"
            )
        for objection in objections:
            logging.error(f"'{self.__class__.__name__}' supports {objection}")
        return not objections

    def _union(self, explanations: dict[int, Explanation]) -> Tensor:
        """Return the elementwise maximum of the explanations' masks."""
        mask_type = self.explainer_config.node_mask_type.value
        masks = (each.to_pyg(node_mask_type=mask_type).node_mask for each in explanations.values())
        union: Tensor = reduce(torch.maximum, masks)
        return union

    def _refuse_unpredicted(self, asked: str, predicted: int, target: float) -> None:
        if predicted == target:
            return
        if self.explainer_config.explanation_type == ExplanationType.phenomenon:
            raise InputError(
                f"target: the model predicts class {predicted} for {asked}, so nothing "
                f"explains class {target:g}: leave it out, or explain the prediction with "
                f"explanation_type='model'"
            )
        raise InputError(
            f"{asked}: the prediction explained is class {predicted}, but PyG's is class "
            f"{target:g}: leave check as it is, and let model_config say what the model returns"
        )

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.__class__.__name__}({options})"


def _parts(x: Tensor, edge_index: Tensor, batch: Tensor, kwargs: dict[str, Any]) -> list[Data]:
    """Return the graphs of a batch, with their part of the model's further arguments."""
    if batch.shape != (x.size(0),):
        raise InputError(
            f"batch: expected a graph's number per node, ({x.size(0)},), got {tuple(batch.shape)}"
        )
    if bool((batch[edge_index[0]] != batch[edge_index[1]]).any()):
        raise InputError("batch: expected edges within graphs, got some between two")
    extras = Extras.sort(kwargs, nodes=x.size(0), edges=edge_index.size(1))
    graphs = []
    for number in range(int(batch.max()) + 1):
        nodes = (batch == number).nonzero().flatten()
        edges = (batch[edge_index[0]] == number).nonzero().flatten()
        place = torch.full_like(batch, -1)
        place[nodes] = torch.arange(nodes.numel(), device=place.device)
        part = extras.subgraph(nodes, edges)
        graphs.append(
            Data(x=x[nodes], edge_index=place[edge_index[:, edges]], **part.node, **part.edge)
        )
    return graphs


def _named(kwargs: dict[str, Any], graph: Data) -> dict[str, Any]:
    """Return further arguments by name: those that a graph has its own part of, and constants."""
    return {name: name if graph.get(name) is not None else value for name, value in kwargs.items()}


def _nodes(index: Any, num_nodes: int, what: str = "node") -> list[int]:
    """Return the ids that `index` names, each once."""
    expected = f"index: expected a {what} id or a tensor of ids from 0 to {num_nodes - 1}"
    if index is None:
        raise InputError(f"{expected}, got None: an explanation is of one prediction, so name it")
    try:
        ids = torch.as_tensor(index)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{expected}, got {type(index).__name__}") from None
    if ids.dtype == torch.bool:
        raise InputError(f"{expected}, got a mask: pass index.nonzero().flatten()")
    if ids.is_floating_point() or ids.is_complex() or ids.dim() > 1 or ids.numel() == 0:
        raise InputError(f"{expected}, got {ids.dtype} of shape {tuple(ids.shape)}")
    members: list[int] = ids.reshape(-1).tolist()
    for node in members:
        if not 0 <= node < num_nodes:
            raise InputError(f"{expected}, got {node}")
    return list(dict.fromkeys(members))


def _targets(target: Tensor, num_nodes: int, what: str = "node") -> list[float]:
    """Return the class of each node or graph."""
    if not isinstance(target, Tensor) or target.shape != (num_nodes,):
        came = tuple(target.shape) if isinstance(target, Tensor) else type(target).__name__
        raise InputError(
            f"target: expected one class per {what}, ({num_nodes},), got {came} "
            f"(binary_classification is for models that return one score per {what})"
        )
    classes: list[float] = target.tolist()
    return classes
