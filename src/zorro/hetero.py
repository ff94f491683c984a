"""What explains a model of several types: a packed graph, cut and refilled as any other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias

from torch_geometric.data import HeteroData

from zorro.arguments import whole_number
from zorro.cut import Extractor, Links, WholeGraphs
from zorro.cut.source import Source
from zorro.data.graph_validation import refuse_few
from zorro.elements import EDGE_ATTRIBUTES, FEATURES, KEPT, redraws_features
from zorro.errors import InputError
from zorro.graph.features import Features, features_of
from zorro.graph.packed import pack
from zorro.graph.packed_graphs import PackedGraphs, attributes_of, pack_graphs, pack_once
from zorro.model.as_module import uncalled
from zorro.model.data_model import takes_data
from zorro.model.hetero_model import HeteroModel
from zorro.model.model_state import node_level_state
from zorro.model.packing import Packing
from zorro.model.picked_output import Part
from zorro.model.predictor import Model, Predictor
from zorro.noise import Noise, NoiseFunction
from zorro.noise.of_edges import edge_noise_of
from zorro.question.asking import AboutLinksOf, AboutNodesOf, Asking
from zorro.question.options import check_parameters
from zorro.question.parameters import PARAMETERS, Parameters, parameters_of
from zorro.question.readout import Readout, RowOfOutput

TypedNoise: TypeAlias = str | Noise | NoiseFunction | Mapping[str, str | Noise | NoiseFunction]
TypedGroups: TypeAlias = Mapping[str, Iterable[Iterable[SupportsIndex]]]


class Door(Protocol):
    """`zorro.Zorro`, as far as it is opened here."""

    def from_source(
        self,
        model: Model,
        features: Features,
        source: Callable[[Predictor, Noise], Source],
        options: Mapping[str, Any],
        edges: Any = None,
        packing: Packing | None = None,
    ) -> Any:
        """Return what explains a model's answers on computational graphs of whatever source."""
        ...


def explainer_of_hetero(
    door: Door,
    model: Model,
    data: HeteroData,
    target: str | tuple[str, str, str],
    *,
    cut: Mapping[str, Any],
    model_kwargs: Mapping[str, Any],
    carries_messages: bool,
    noise: TypedNoise,
    feature_groups: TypedGroups | None,
    options: Mapping[str, Any],
) -> Any:
    """Return what explains a model's answers for nodes of a type, or for links between two.

    Args:
        door: makes it.
        model: that is explained.
        data: PyG's.
        target: a type, or (source type, relation, target type).
        cut: `hops`, `halo` and `check`.
        model_kwargs: further arguments of the model.
        carries_messages: whether a link that is asked about stays an edge.
        noise: of all types, or by type.
        feature_groups: by type.
        options: all others of `zorro.Zorro`, by their names.
    """
    if not isinstance(data, HeteroData):
        raise InputError(f"data: expected PyG's HeteroData, got {type(data).__name__}")
    _check_target(data, target)
    graph, packing = pack(data, model_kwargs, directed=_settled_direction(options))
    options = {**options, "noise": noise, "feature_groups": feature_groups}
    part = _part(options["output"])
    options, asked = _settled(options, packing, edges=graph.edges.num_edges)
    ends = None if isinstance(target, str) else (target[0], target[2])
    packed = HeteroModel(
        model, packing, answers=target if isinstance(target, str) else None, ends=ends, part=part
    )
    if redraws_features(asked.keep):
        _refuse_hidden_features(packed, packing)
    asking = _asking(packing, target)
    edges = edge_noise_of(asked, lambda: {})
    check = cut["check"]

    def source(predictor: Predictor, refill: Noise) -> Source:
        extractor = Extractor(
            predictor,
            graph,
            hops=cut["hops"],
            halo=cut["halo"],
            check="whole" if check == "auto" else check,  # sparse or not, the model runs on parts
            noise=refill,
            seed=options["seed"],
            asking=asking,
            edges=edges,
            keeps_features=not redraws_features(asked.keep),
        )
        if isinstance(asking, AboutLinksOf):
            return Links(
                extractor,
                graph,
                carries_messages=carries_messages,
                asking=asking,
                relations=_relations_of(target, packing),
            )
        return extractor

    return door.from_source(packed, features_of(graph.x), source, options, edges, packing)


def explainer_of_hetero_graphs(
    door: Door,
    model: Model,
    graphs: Sequence[HeteroData],
    *,
    model_kwargs: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> Any:
    """Return what explains a model's answers for whole graphs of several types.

    Args:
        door: makes it.
        model: that is explained.
        graphs: PyG's.
        model_kwargs: further arguments of the model; a text names an attribute of the graphs. When
            None, a model of one argument gets all that the graphs have.
        options: those of `zorro.Zorro`, by their names.
    """
    given: Mapping[str, Any] = model_kwargs or {}
    if model_kwargs is None and takes_data(uncalled(model)):
        given = attributes_of(graphs)
    packed = pack_graphs(graphs, given, directed=_settled_direction(options))
    module = _whole(model, packed, options)
    module.check_takes_graphs()
    return _explainer_of_wholes(door, module, packed, options)


def explainer_of_hetero_outputs(
    door: Door,
    model: Model,
    data: HeteroData,
    outputs: int,
    *,
    model_kwargs: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Any:
    """Return what explains the rows of what a model returns for one graph, whatever they are of.

    All nodes are candidates, and noise is drawn from them.

    Args:
        door: makes it.
        model: called with the whole graph, and told nothing of graphs or links.
        data: PyG's.
        outputs: how many rows it returns.
        model_kwargs: further arguments of the model.
        options: those of `zorro.Zorro`, by their names.
    """
    packed = pack_once(data, model_kwargs, times=outputs, directed=_settled_direction(options))
    readouts = [RowOfOutput(row, outputs) for row in range(outputs)]
    return _explainer_of_wholes(door, _whole(model, packed, options), packed, options, readouts)


def _whole(model: Model, packed: PackedGraphs, options: Mapping[str, Any]) -> HeteroModel:
    """Return a model that answers for whole graphs."""
    return HeteroModel(model, packed.packing, part=_part(options["output"]))


def _explainer_of_wholes(
    door: Door,
    model: HeteroModel,
    packed: PackedGraphs,
    options: Mapping[str, Any],
    readouts: Sequence[Readout] | None = None,
) -> Any:
    """Return what explains a model's answers for graphs that are taken whole.

    Args:
        door: makes it.
        model: that is explained.
        packed: the graphs.
        options: those of `zorro.Zorro`, by their names.
        readouts: how each graph's answer is read off the model's; it is the whole output when None.
    """
    edges_in_all = sum(each.edge_index.size(1) for each in packed.graphs)
    options, asked = _settled(options, packed.packing, edges=edges_in_all)
    if readouts is None:
        refuse_few(packed.given, draws_from_them=redraws_features(asked.keep))
    edges = edge_noise_of(asked, lambda: {})

    def source(predictor: Predictor, refill: Noise) -> Source:
        return WholeGraphs(
            predictor,
            packed.graphs,
            model_kwargs=packed.model_kwargs,
            readouts=readouts,
            packed=packed,
        )

    return door.from_source(model, features_of(packed.x), source, options, edges, packed.packing)


def _settled_direction(options: Mapping[str, Any]) -> bool | None:
    directed = options["directed"]
    if directed is not None and not isinstance(directed, bool):
        raise InputError(f"directed: expected True, False or None, got {directed!r}")
    return directed


def _part(output: Any) -> Part | None:
    """Return what picks the scores out of what a model returns, if that is what `output` says."""
    return output if isinstance(output, str) or callable(output) else None


def _settled(
    options: Mapping[str, Any], packing: Packing, *, edges: int
) -> tuple[dict[str, Any], Parameters]:
    """Return options as they are for a packed graph, checked, and what is asked of every query.

    Args:
        options: those of `zorro.Zorro`, with noise and groups of features by type.
        packing: of the graph, or of all graphs.
        edges: how many there are.
    """
    settled = {
        **options,
        "feature_groups": _groups(options["feature_groups"], packing),
        "keep": _kept(options["keep"], packing),
        "output": None if _part(options["output"]) is not None else options["output"],
    }
    asked = parameters_of(**{name: settled[name] for name in PARAMETERS})
    check_parameters(asked, typed=True)
    _refuse_unserved(asked, edges)
    return settled, asked


def _check_target(data: HeteroData, target: Any) -> None:
    types = ", ".join(map(repr, data.node_types))
    if isinstance(target, str):
        if target not in data.node_types:
            raise InputError(f"target: expected one of the types {types}, got {target!r}")
        return
    is_relation = isinstance(target, tuple) and len(target) == 3
    if not is_relation or {target[0], target[2]} - set(data.node_types):
        raise InputError(
            f"target: expected a type, or (source type, relation, target type) of the types "
            f"{types}, got {target!r}"
        )


def _asking(packing: Packing, target: str | tuple[str, str, str]) -> Asking:
    def about(name: str) -> AboutNodesOf:
        types = packing.types
        number = types.names.index(name)
        return AboutNodesOf(name, types.first_nodes[number], types.nodes[number].count)

    if isinstance(target, str):
        return about(target)
    return AboutLinksOf(about(target[0]), about(target[2]))


def _relations_of(link: Any, packing: Packing) -> list[int]:
    """Return the numbers of the relation that links are of, and of the one back along it."""
    types = packing.types
    source, name, target = link
    reverse = (target, f"rev_{name}", source)  # PyG's name for it, also where ways are two elements
    own = {
        types.back[number] for number, each in enumerate(types.relations) if each in (link, reverse)
    }
    return [number for number, forth in enumerate(types.back) if forth in own]


def _kept(keep: Any, packing: Packing) -> Any:
    """Return what a set may be of: no features where no type has any and nobody asks for them."""
    if packing.types.num_features or FEATURES not in keep:
        return keep
    if keep is KEPT:
        return tuple(kind for kind in keep if kind != FEATURES)
    raise InputError("keep: expected a type with features for 'features', got none")


def _groups(given: TypedGroups | None, packing: Packing) -> list[list[int]] | None:
    """Return groups of columns, given by type, among the columns of all types."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InputError(f"feature_groups: expected groups by type, got {type(given).__name__}")
    found = []
    for name, groups in given.items():
        types = packing.types
        if name not in types.names:
            raise InputError(
                f"feature_groups: expected some of the types {', '.join(types.names)}, got {name!r}"
            )
        count = types.nodes[types.names.index(name)].features
        if count == 0:
            raise InputError(f"feature_groups[{name!r}]: expected a type with features, got none")
        for group in groups:
            columns = [whole_number(f"feature_groups[{name!r}]", each, count) for each in group]
            found.append([types.feature(name, column) for column in columns])
    return found


def _refuse_unserved(asked: Parameters, edges: int) -> None:
    if EDGE_ATTRIBUTES in asked.keep:
        raise InputError(
            f"keep: expected no 'edge_attributes' for graphs of several types, got {asked.keep}"
        )
    if asked.edge_noise == "rewire":
        raise InputError(
            "edge_noise: expected 'presence' for graphs of several types, got 'rewire'"
        )
    if asked.edge_presence is not None and edges == 0:
        raise InputError("edges: expected some to keep, since keep has edges, got none")


def _refuse_hidden_features(model: HeteroModel, packing: Packing) -> None:
    """Refuse types without features for which the model holds a row per node."""
    for one, columns in zip(packing.types.nodes, packing.features, strict=True):
        held = node_level_state(model.model, one.count) if columns is None else []
        if held:
            raise InputError(
                f"data[{one.name!r}].x: expected features or numbers of nodes, got none, and the "
                f"model holds {', '.join(held)} with a row for each of its {one.count} nodes: set "
                f"data[{one.name!r}].x = torch.arange({one.count}) and let the model look up "
                f"x_dict[{one.name!r}], or ask about connections alone, keep=('edges',)"
            )
