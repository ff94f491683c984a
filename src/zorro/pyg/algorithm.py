"""Zorro as an algorithm of PyG's `Explainer`."""

from __future__ import annotations

import contextlib
import inspect
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.explain import Explanation as PygExplanation
from torch_geometric.explain import HeteroExplanation
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import ExplanationType, ModelMode, ModelReturnType

from zorro.elements import COARSE, EDGES, KEPT, RELATIONS, TYPES, Kind
from zorro.elements.types import Relation
from zorro.errors import InputError
from zorro.explainer import Zorro
from zorro.explanation import Explanation
from zorro.model.picked_output import Part, part_of
from zorro.pyg.calls import Asked, AskedOfOneType, AskedOfSeveralTypes
from zorro.pyg.hetero_levels import HeteroCall
from zorro.pyg.levels import LEVELS, Call, TaskLevel
from zorro.question.reading import READINGS, reading_of

_KNOWN_TO_PYG = {
    "threshold": "follows from the return_type of PyG's model_config",
    "label": "has no task among PyG's",
    "model_kwargs": "are the further arguments with which PyG's Explainer is called",
}
_OPTIONS = [
    name
    for name, parameter in inspect.signature(Zorro).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY and name not in _KNOWN_TO_PYG
]
_OF_VALUES = ("tolerance", "tolerance_share", "side", "output")
_OF_NODES_AND_LINKS = ("hops", "halo", "check")
_SHARE = 0.5  # of the outputs' spread: the tolerance of values where nothing is said


class ZorroExplainer(ExplainerAlgorithm):  # type: ignore[misc]  # PyG ships no types
    """Explains answers for nodes, links and graphs with Zorro, behind PyG's `Explainer`.

    >>> import torch
    >>> from torch_geometric.explain import Explainer
    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import ZorroExplainer
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
    Explanation(node 1 → class 0: 1 nodes × 1 features, fidelity ≥ 0.97, certified)

    Masks are of zeros and ones on the whole graph's ids. With `node_mask_type` `attributes` the
    mask is the explanation V_s ⊗ F_s (N, d); `object` keeps only V_s (N, 1) and
    `common_attributes` only F_s (1, d). With `edge_mask_type="object"` the edges that are kept are
    a mask (E,), of both directions of an undirected edge; `edge_presence` and `directed` are
    options of theirs. What may be kept follows from the masks: nodes and features, edges, or all
    of them; `keep` leaves out a kind, `keep=("nodes", "edges")`. `explanation.zorro` holds the
    `zorro.Explanation` of each node of `index`, by its id. With several nodes the masks are the
    unions of theirs; the fidelity τ is that of each explanation on its own, not of the union. One
    call for many nodes is faster than many calls, which prepare the graph anew each time.

    `index` says what is explained: one number, several, or all outputs when None; each has its own
    certificate. With `task_level="edge"` these are the links of `edge_label_index`, with `"graph"`
    the graphs of `batch`, as with `"node"` where the model answers once for each of these;
    `explanation.zorro` holds an explanation of each by its number. Noise is drawn from the nodes
    of the graph, or of the batch and of `graphs`: one graph alone is refused, unless only edges
    are asked for.

    With `mode="regression"` a value is the same answer within `tolerance`, or within
    `tolerance_share` of the spread of the model's outputs, a half where nothing is said.

    A `phenomenon` can be explained where the model predicts it: RDT-fidelity is the probability
    that the model keeps to the answer, and one that it does not give has none to keep.

    PyG's `fidelity` sets features that are not selected to zero and silences other edges without
    changing degrees: it is not RDT-fidelity. Its `visualize_graph` needs an edge mask, and draws
    nothing where all edges are kept. Its `get_explanation_subgraph` needs no mask of nodes or one
    of all nodes, so not `common_attributes`; with one it leaves out kept edges of nodes that are
    not selected.

    A graph of several types, `explainer(x_dict, edge_index_dict, …)`, gets a `HeteroExplanation`
    with a node mask per type and an edge mask per relation, of both directions where one relation
    leads back along another. `keep=("types",)` or `keep=("relations",)` asks which types or
    relations matter at all, and the masks are all ones or all zeros then. Rows of the output are
    of the nodes of the one type that has as many, or of `output_type`; of the links of
    `edge_label_index`, whose types `output_type` tells; of the graphs of `batch_dict`; or, at graph
    level without that, of the whole graph, from whose own nodes noise is drawn then. What only
    tells nodes apart (their numbers, one-hot numbers) is kept with its node in every mask. PyG's
    own `fidelity` and `unfaithfulness` take no `HeteroExplanation` (they look for attributes that
    it does not have): the certified fidelity is in `explanation.zorro`. Its `visualize_graph` needs
    `object` masks there, or none of nodes.

    PyG itself calls the model as `model(x, edge_index, …)`, and takes what that returns for class
    scores with `explanation_type="model"`: a model that takes a `Data` or returns more is to be
    wrapped for PyG. With a `phenomenon`, and in regression, `output` picks a part.

    Args:
        graphs: at graph level, further graphs from whose nodes noise is drawn: the data set.
        output_type: with several types, the one whose nodes the model answers for, or the types of
            links, (source type, relation, target type); told by the number of outputs when None.
        options: those of `zorro.Zorro` (`tau`, `samples`, `noise`, `seed`, …) except `threshold`
            and `model_kwargs`, which PyG's `model_config` and call determine.
    """

    # Nothing is kept between calls; PyG's own algorithms have these names for what they keep.
    node_mask: None = None
    edge_mask: None = None

    def __init__(
        self,
        *,
        graphs: Sequence[Data] | Sequence[HeteroData] = (),
        output_type: str | Relation | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._graphs = graphs
        self._output_type = output_type
        for name in options:
            which = f", which {_KNOWN_TO_PYG[name]}" if name in _KNOWN_TO_PYG else ""
            if name not in _OPTIONS:
                raise InputError(
                    f"{name}: expected one of the options {', '.join(_OPTIONS)}, got {name!r}"
                    f"{which}"
                )
        _check_under_some_mask(options)
        self.options = options

    def forward(
        self,
        model: nn.Module,
        x: Tensor | Mapping[str, Tensor],
        edge_index: Tensor | Mapping[Relation, Tensor],
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> PygExplanation | HeteroExplanation:
        """Explain the model's answer for each node, link or graph of `index`.

        Args:
            model: called as `model(x, edge_index, **kwargs)`.
            x: (N, d), or such by type.
            edge_index: (2, E), or such by relation.
            target: the classes or values to explain, of all nodes, links or graphs.
            index: what to explain: one number, several (k,), or all when None.
            kwargs: further arguments of the model; node- and edge-level tensors follow, and
                dictionaries of these. At graph level `batch` (N,), or `batch_dict`, says to which
                graph each node belongs, at edge level `edge_label_index` (2, k) which links are
                asked about.
        """
        asked = self._asked(model, x, edge_index, kwargs, _rows(target, self._part))
        level = asked.level
        zorro = level.zorro(self._options_at(level))
        numbers = _numbers(index, level)
        targets = self._targets(target, level)
        if self.explainer_config.explanation_type == ExplanationType.phenomenon:
            # Labels are often not what the model predicts: say so before the search.
            answers = self._answers(asked)
            for number in numbers:
                self._refuse_unpredicted(level, number, answers[number], targets)
        explanations: dict[int, Explanation] = {}
        for number in numbers:
            found = explanations[number] = zorro.explain(level.asked(number))
            self._refuse_unpredicted(level, number, _answer(found), targets)
        kind = self.explainer_config.node_mask_type
        return asked.explanation(
            explanations,
            node_mask_type=None if kind is None else kind.value,
            edges=self.explainer_config.edge_mask_type is not None,
        )

    def _asked(
        self, model: nn.Module, x: Any, edge_index: Any, kwargs: Mapping[str, Any], rows: int | None
    ) -> Asked:
        """Return PyG's call as what is asked."""
        task_level = self.model_config.task_level.value
        if not isinstance(x, Mapping):
            return AskedOfOneType(
                Call(model, x, edge_index, kwargs, rows, self._graphs), task_level
            )
        told = self._output_type
        if told is None and isinstance(self._part, str) and self._part in x:
            told = self._part  # the scores are what a dictionary holds of that type
        call = HeteroCall(
            model,
            x,
            edge_index,
            kwargs,
            rows,
            self._graphs,
            output_type=told,
            directed=self.options.get("directed"),
        )
        return AskedOfSeveralTypes(call, task_level)

    def _answers(self, asked: Asked) -> list[Answer]:
        """Return what the model says of all outputs, as PyG calls it."""
        options = self._options_at(asked.level)
        reading = reading_of(**{name: options[name] for name in READINGS if name in options})
        predictor, scores = asked.scores(reading, options.get("output"))
        if not self._is_regression:
            return [(float(each.argmax()), 0.0) for each in scores]
        predictor.settle(scores)
        tolerance = predictor.reading.spread(scores)
        assert tolerance is not None
        return list(zip(scores[:, 0].tolist(), tolerance.tolist(), strict=True))

    @property
    def _part(self) -> Part | None:
        """What picks the scores of a model that returns more."""
        output = self.options.get("output")
        return output if isinstance(output, str) or callable(output) else None

    @property
    def _is_regression(self) -> bool:
        return bool(self.model_config.mode == ModelMode.regression)

    def _options_at(self, level: TaskLevel) -> dict[str, Any]:
        """Return the options of Zorro, with what PyG's configuration says of the output."""
        options = {**self.options, "keep": self._keep}
        if level.each == "graph":
            options = {k: v for k, v in options.items() if k not in _OF_NODES_AND_LINKS}
        if not self._is_regression:
            is_probability = self.model_config.return_type == ModelReturnType.probs
            # Where a model with one column draws the line, as in PyG's `Explainer.get_target`.
            return {**options, "threshold": 0.5 if is_probability else 0.0}
        if "tolerance" not in options and "tolerance_share" not in options:
            options["tolerance_share"] = _SHARE
        return options

    @property
    def _keep(self) -> tuple[Kind, ...]:
        """What sets may be of: what the masks that are asked for can show."""
        if "keep" in self.options:
            return tuple(self.options["keep"])
        explainer = self.explainer_config
        return (
            *(KEPT if explainer.node_mask_type is not None else ()),
            *((EDGES,) if explainer.edge_mask_type is not None else ()),
        )

    def supports(self) -> bool:
        """Whether PyG's configuration can be served; if not, the log says why."""
        explainer, model = self.explainer_config, self.model_config
        objections = []
        if model.task_level.value not in LEVELS:
            objections.append(
                f"tasks of level {', '.join(LEVELS)} (got task_level {model.task_level.value!r})"
            )
        of_values = [
            name
            for name in _OF_VALUES
            if name in self.options and not (name == "output" and self._part is not None)
        ]
        if of_values and model.mode != ModelMode.regression:
            objections.append(f"{of_values[0]} only with mode 'regression'")
        masks = {
            "node_mask_type": (explainer.node_mask_type, (*KEPT, TYPES)),
            "edge_mask_type": (explainer.edge_mask_type, (EDGES, RELATIONS)),
        }
        for name, (asked, kinds) in masks.items():
            if (asked is None) == bool(set(kinds) & set(self._keep)):
                objections.append(
                    f"{name} exactly where keep has {' or '.join(map(repr, kinds))} "
                    f"(got {name} {asked and asked.value!r}, keep {self._keep})"
                )
        if not objections:
            try:
                _check({**self.options, "keep": self._keep})
            except InputError as error:
                objections.append(f"no such options with these masks: {error}")
        for objection in objections:
            logging.error(f"'{self.__class__.__name__}' supports {objection}")
        return not objections

    def _targets(self, target: Tensor, level: TaskLevel) -> list[float]:
        """Return the class or value of each output."""
        count = level.count
        if self._part is not None and not isinstance(target, Tensor):
            target = part_of(target, self._part)  # PyG's own prediction, whole
        if isinstance(target, Tensor) and self._is_regression:
            column = 0 if self._part is not None else int(self.options.get("output", 0))
            target = target[:, column] if target.dim() == 2 else target
        elif isinstance(target, Tensor) and target.shape == (count, 1):
            target = target[:, 0]  # classes of a model with one column, in the shape of its output
        if not isinstance(target, Tensor) or target.shape != (count,):
            came = tuple(target.shape) if isinstance(target, Tensor) else type(target).__name__
            what = "value" if self._is_regression else "class"
            raise InputError(
                f"target: expected one {what} per {level.each}, ({count},), got {came} "
                f"(binary_classification is for models that return one score per {level.each})"
            )
        known: list[float] = target.tolist()
        return known

    def _refuse_unpredicted(
        self, level: TaskLevel, number: int, answer: Answer, targets: Sequence[float]
    ) -> None:
        """Refuse a target that is not the model's answer, of a value within its tolerance."""
        said, tolerance = answer
        target = targets[number]
        if abs(said - target) <= tolerance:
            return
        asked = f"{level.each} {number}"
        what = "value" if self._is_regression else "class"
        if self.explainer_config.explanation_type == ExplanationType.phenomenon:
            raise InputError(
                f"target: expected {what} {said:g}, which the model predicts for {asked}, got "
                f"{target:g}: leave it out, or explain the prediction with "
                f"explanation_type='model'"
            )
        raise InputError(
            f"{asked}: expected {what} {said:g}, which is explained, got {target:g} from PyG: "
            "leave check as it is, and let model_config say what the model returns"
        )

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.__class__.__name__}({options})"


Answer = tuple[float, float]  # a class or a value, and how far another may be from it


def _check_under_some_mask(options: Mapping[str, Any]) -> None:
    """Refuse options that no mask goes with; which ones are asked for, PyG tells later."""
    if "keep" not in options:
        with contextlib.suppress(InputError):
            return _check(options)
        options = {**options, "keep": (EDGES,)}  # some are of edges alone
    _check(options)


def _check(options: Mapping[str, Any]) -> None:
    """Let Zorro check its own options; any graph will do, and the model is not called."""
    by_type = ("noise", "feature_groups")  # of which types, the call tells
    options = {
        name: value
        for name, value in options.items()
        if not (name in by_type and isinstance(value, Mapping))
    }
    one_edge = torch.zeros(2, 1, dtype=torch.long)
    if not set(COARSE).isdisjoint(options.get("keep", ())):
        data = HeteroData({"node": {"x": torch.zeros(1, 1)}})
        data["node", "edge", "node"].edge_index = one_edge
        Zorro.of_hetero(nn.Identity(), data, "node", **options)
        return
    attributes = {"edge_attr": torch.zeros(1, 1)}
    Zorro(nn.Identity(), torch.zeros(1, 1), one_edge, model_kwargs=attributes, **options)


def _rows(target: Any, part: Part | None) -> int | None:
    """Return how many outputs a target is of, if it tells."""
    if part is not None and not isinstance(target, Tensor):
        target = part_of(target, part)
    return target.size(0) if isinstance(target, Tensor) and target.dim() > 0 else None


def _answer(explanation: Explanation) -> Answer:
    if explanation.value is not None:
        return explanation.value.value, explanation.value.tolerance
    assert explanation.predicted_class is not None
    return float(explanation.predicted_class), 0.0


def _numbers(index: Any, level: TaskLevel) -> list[int]:
    """Return the outputs that `index` names, each once; all for None."""
    if index is None:
        return list(range(level.count))
    expected = f"index: expected a {level.each} id or a tensor of ids from 0 to {level.count - 1}"
    try:
        ids = torch.as_tensor(index)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{expected}, got {type(index).__name__}") from None
    if ids.dtype == torch.bool:
        raise InputError(f"{expected}, got a mask: pass index.nonzero().flatten()")
    if ids.is_floating_point() or ids.is_complex() or ids.dim() > 1 or ids.numel() == 0:
        raise InputError(f"{expected}, got {ids.dtype} of shape {tuple(ids.shape)}")
    members: list[int] = ids.reshape(-1).tolist()
    for number in members:
        if not 0 <= number < level.count:
            raise InputError(f"{expected}, got {number}")
    return list(dict.fromkeys(members))
