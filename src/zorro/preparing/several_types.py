"""What is made ready for models of several types: a packed graph, cut and refilled as any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, SupportsIndex, TypeAlias

from torch_geometric.data import HeteroData

from zorro.arguments import whole_number
from zorro.cut import Links, WholeGraphs
from zorro.cut.extractor import check_cut
from zorro.cut.source import Source
from zorro.data.graph_validation import refuse_few
from zorro.elements import EDGE_ATTRIBUTES, FEATURES, KEPT, redraws_features
from zorro.errors import InputError
from zorro.graph.features import features_of
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
from zorro.preparing.cutting import Cutting
from zorro.preparing.direction import check_direction
from zorro.preparing.ready import Ready, made_ready
from zorro.preparing.settings import Settings, settings_of
from zorro.question.asking import AboutLinksOf, AboutNodesOf, Asking
from zorro.question.parameters import Parameters
from zorro.question.readout import Readout, RowOfOutput

TypedNoise: TypeAlias = str | Noise | NoiseFunction | Mapping[str, str | Noise | NoiseFunction]
TypedGroups: TypeAlias = Mapping[str, Iterable[Iterable[SupportsIndex]]]


def of_hetero(
    model: Model,
    data: HeteroData,
    target: str | tuple[str, str, str],
    *,
    cutting: Cutting,
    model_kwargs: Mapping[str, Any],
    carries_messages: bool,
    noise: TypedNoise,
    feature_groups: TypedGroups | None,
    options: Mapping[str, Any],
) -> Ready:
    """Return what explanations of nodes of a type, or of links between two types, share.

    Args:
        model: that is explained.
        data: PyG's.
        target: a type, or (source type, relation, target type).
        cutting: how parts of the graph are cut out.
        model_kwargs: further arguments of the model.
        carries_messages: whether a link that is asked about stays an edge.
        noise: of all types, or by type.
        feature_groups: by type.
        options: all others of `zorro.Zorro`, by their names.
    """
    check_cut(cutting.hops, cutting.halo, cutting.check)
    if not isinstance(data, HeteroData):
        raise InputError(f"data: expected PyG's HeteroData, got {type(data).__name__}")
    _check_target(data, target)
    check_direction(options["directed"])
    graph, packing = pack(data, model_kwargs, directed=options["directed"])
    options = {**options, "noise": noise, "feature_groups": feature_groups}
    part = _part(options["output"])
    settings = _settings(options, packing, edges=graph.edges.num_edges)
    asked = settings.asked
    ends = None if isinstance(target, str) else (target[0], target[2])
    packed = HeteroModel(
        model, packing, answers=target if isinstance(target, str) else None, ends=ends, part=part
    )
    if redraws_features(asked.keep):
        _refuse_hidden_features(packed, packing)
    asking = _asking(packing, target)
    edges = edge_noise_of(asked, lambda: {})
    if cutting.check == "auto":
        cutting = replace(cutting, check="whole")  # sparse or not, the model runs on parts

    def source(predictor: Predictor, refill: Noise) -> Source:
        extractor = cutting.extractor(predictor, graph, refill, asked, edges, asking=asking)
        if isinstance(asking, AboutLinksOf):
            return Links(
                extractor,
                graph,
                carries_messages=carries_messages,
                asking=asking,
                relations=_relations_of(target, packing),
            )
        return extractor

    return made_ready(packed, features_of(graph.x), source, settings, edges, packing)


def of_hetero_graphs(
    model: Model,
    graphs: Sequence[HeteroData],
    *,
    model_kwargs: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> Ready:
    """Return what explanations of a model's answers for whole graphs of several types share.

    Args:
        model: that is explained.
        graphs: PyG's.
        model_kwargs: further arguments of the model; a text names an attribute of the graphs. When
            None, a model of one argument gets all that the graphs have.
        options: those of `zorro.Zorro`, by their names.
    """
    given: Mapping[str, Any] = model_kwargs or {}
    if model_kwargs is None and takes_data(uncalled(model)):
        given = attributes_of(graphs)
    check_direction(options["directed"])
    packed = pack_graphs(graphs, given, directed=options["directed"])
    module = _whole(model, packed, options)
    module.check_takes_graphs()
    return _ready_for_wholes(module, packed, options)


def of_hetero_outputs(
    model: Model,
    data: HeteroData,
    outputs: int,
    *,
    model_kwargs: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Ready:
    """Return what explanations of the rows share that a model returns for one graph.

    Whatever they are rows of: all nodes are candidates, and noise is drawn from them.

    Args:
        model: called with the whole graph, and told nothing of graphs or links.
        data: PyG's.
        outputs: how many rows it returns.
        model_kwargs: further arguments of the model.
        options: those of `zorro.Zorro`, by their names.
    """
    check_direction(options["directed"])
    packed = pack_once(data, model_kwargs, times=outputs, directed=options["directed"])
    readouts = [RowOfOutput(row, outputs) for row in range(outputs)]
    return _ready_for_wholes(_whole(model, packed, options), packed, options, readouts)


def _whole(model: Model, packed: PackedGraphs, options: Mapping[str, Any]) -> HeteroModel:
    """Return a model that answers for whole graphs."""
    return HeteroModel(model, packed.packing, part=_part(options["output"]))


def _ready_for_wholes(
    model: HeteroModel,
    packed: PackedGraphs,
    options: Mapping[str, Any],
    readouts: Sequence[Readout] | None = None,
) -> Ready:
    """Return what explanations of graphs that are taken whole share.

    Args:
        model: that is explained.
        packed: the graphs.
        options: those of `zorro.Zorro`, by their names.
        readouts: how each graph's answer is read off the model's; it is the whole output when None.
    """
    edges_in_all = sum(each.edge_index.size(1) for each in packed.graphs)
    settings = _settings(options, packed.packing, edges=edges_in_all)
    if readouts is None:
        refuse_few(packed.given, draws_from_them=redraws_features(settings.asked.keep))
    edges = edge_noise_of(settings.asked, lambda: {})

    def source(predictor: Predictor, refill: Noise) -> Source:
        return WholeGraphs(
            predictor,
            packed.graphs,
            model_kwargs=packed.model_kwargs,
            readouts=readouts,
            packed=packed,
        )

    return made_ready(model, features_of(packed.x), source, settings, edges, packed.packing)


def _part(output: Any) -> Part | None:
    """Return what picks the scores out of what a model returns, if that is what `output` says."""
    return output if isinstance(output, str) or callable(output) else None


def _settings(options: Mapping[str, Any], packing: Packing, *, edges: int) -> Settings:
    """Return options as they are for a packed graph, checked.

    Args:
        options: those of `zorro.Zorro`, with noise and groups of features by type.
        packing: of the graph, or of all graphs.
        edges: how many there are.
    """
    settings = settings_of(
        {
            **options,
            "feature_groups": _groups(options["feature_groups"], packing),
            "keep": _kept(options["keep"], packing),
            "output": None if _part(options["output"]) is not None else options["output"],
        },
        typed=True,
    )
    _refuse_unserved(settings.asked, edges)
    return settings


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
