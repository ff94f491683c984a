"""The result: which nodes and features a prediction rests on, and everything needed to check it."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch_geometric.explain import Explanation as PygExplanation
from torch_geometric.utils import index_to_mask

from zorro.arguments import check_choice
from zorro.elements import (
    EDGE_ATTRIBUTES,
    EDGES,
    FEATURES,
    KINDS,
    NODES,
    RELATIONS,
    TYPES,
    Kind,
    redraws_features,
)
from zorro.elements.edges import EdgeLabel, Member, edge_columns
from zorro.elements.groups import gathered
from zorro.elements.space import BLOCKS
from zorro.elements.types import Relation, Types
from zorro.errors import InputError
from zorro.evaluation.estimate import FidelityEstimate
from zorro.explanation.band import band
from zorro.explanation.formats import FORMAT, up_to_date
from zorro.explanation.losses import ElementLoss, Losses
from zorro.explanation.notebook import card
from zorro.explanation.sentence import Claim, phrases, text
from zorro.explanation.typed import (
    TypedMembers,
    counted_by_type,
    counted_in_words,
    edges_by_relation,
    features_by_type,
    grouped_members,
    listed_by_type,
    named_member,
    nodes_by_type,
)
from zorro.explanation.written import hundredths, interval
from zorro.files.plain_json import parse
from zorro.files.typed_values import rebuilt
from zorro.graph.names import Names, label
from zorro.question import Query
from zorro.question.decision import Side, StaysAhead, Versus
from zorro.question.parameters import Parameters
from zorro.search.certificate import Certificate

Status = Literal[
    "certified",
    "conditional",
    "reached",
    "nothing needed",
    "everything needed",
    "budget exhausted",
]
MaskType = Literal["attributes", "object", "common_attributes"]
_EXPECTED = {True: "numbers", False: "edges (u, v)"}  # where a member is, or is not, an edge


@dataclass(frozen=True)
class Step:
    """An element that the search added or took out (none for the start), and what it led to.

    `members` are the element's ids: of a node its number, of a feature its column, or all the
    columns of its group; of an edge its nodes (u, v), or (u, v, k) if there are several.
    """

    kind: Kind | None
    members: tuple[Member, ...]
    fidelity: float
    added: bool = True

    @property
    def node(self) -> int | None:
        """The node, if it is one."""
        return _number(self.members[0]) if self.kind == NODES else None

    @property
    def feature(self) -> int | None:
        """The feature, if it is one; the first of a group."""
        return _number(self.members[0]) if self.kind == FEATURES else None


@dataclass(frozen=True)
class PredictedValue:
    """A value that a model gives, and how far it may move and still be the same answer.

    `side` is `"both"`, or `"up"` where it may not fall, or `"down"` where it may not rise further
    than the tolerance. `least_tolerance` is the smallest for which the set would be certified to
    have the fidelity τ, with the certificate's confidence, told from fresh samples; None where they
    are too few to tell.
    """

    value: float
    tolerance: float
    side: Side
    least_tolerance: float | None = None

    @property
    def low(self) -> float:
        """The least that it may be, −∞ if it may fall."""
        return -math.inf if self.side == "down" else self.value - self.tolerance

    @property
    def high(self) -> float:
        """The most that it may be, ∞ if it may rise."""
        return math.inf if self.side == "up" else self.value + self.tolerance

    def __str__(self) -> str:
        sign = {"both": "±", "up": "−", "down": "+"}[self.side]
        return f"{self.value:.4g} {sign} {self.tolerance:.3g}"


@dataclass(frozen=True)
class GraphSummary:
    """Where the query was evaluated.

    `checked` says what made sure that the output there is the whole graph's: a run on the
    `"whole"` graph, a `"local"` test that nothing beyond moves it, or `"none"`. `whole` says that
    no cut of the graph preserved the prediction, so that the whole graph was used;
    `context_matters` that nodes outside the candidates influence it too (they keep their true
    features, and nothing is certified). `both_ways` says that candidates were also looked for
    against the direction of the model's messages.
    """

    candidates: int
    context: int
    edges: int
    hops: int
    halo: int
    checked: str
    whole: bool
    context_matters: bool
    num_nodes: int
    num_features: int
    both_ways: bool = False
    directed: bool = False  # whether an edge is another than its reverse
    edge_elements: int | None = None  # edges that can be kept; None where they are not selectable
    edge_inputs: tuple[str, ...] = ()  # names of what the model gets for edges


@dataclass(frozen=True)
class Explanation:
    """An explanation S = (V_s, F_s) of the model's prediction for one node.

    With the features `features` of the nodes `nodes` at their true values and everything else in
    the computational graph replaced by noise, the model keeps its prediction with probability
    `fidelity`, measured on samples that the search has not seen: those of the certificate, or
    further ones, as `fidelity.rests_on` says. `search_fidelity` is the share on the samples that
    the set was chosen by. With a contrast, "keeps its prediction" reads "still
    prefers the predicted class to the other" or "still does not predict the other".

    `status` says how far the claim goes: `"certified"` (`certificate` has the proof), `"reached"`
    on the search's samples alone, `"nothing needed"` and `"everything needed"` for the empty and
    the full set, `"budget exhausted"` for the best that was found within the limits.
    `"conditional"` is not certified: it holds while something that matters keeps its true values,
    and `caveat` says what. `chance` is the share of random inputs that get the same answer with
    nothing kept, where the set was to go beyond that.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro import Explanation, Zorro
    >>> from zorro.data import karate_club
    >>> club = karate_club()
    >>> found = Zorro(SimpleConv(), club.x, club.edge_index).explain(11)
    >>> found.nodes, found.features, found.predicted_class
    ((0,), (0, 1), 1)
    >>> found.status, found.certificate.bound > 0.85
    ('certified', True)
    >>> Explanation.from_json(found.to_json()) == found
    True

    Args:
        query: what was asked about.
        predicted_class: the model's answer; None where that is a value.
        probabilities: of the classes, by class number; empty where the answer is no class.
        selected: the set, by kind (`"nodes"`, `"features"`, …): ids, ascending; kinds that were not
            selectable are left out.
        steps: of the search, in order.
        fidelity: on samples that the search has not seen.
        search_fidelity: on the samples that the set was chosen by.
        status: how far the claim goes.
        parameters: what was asked for.
        graph: where the query was evaluated.
        evaluator: which one, `"traced"` or `"any-model"`.
        evaluations: how many perturbed inputs were run.
        seconds: that it took.
        version: of zorro.
        certificate: the proof, or what came of the attempt; None where none was asked for.
        versus: what the answer is held against, if anything.
        chance: how often random inputs get the answer; None unless the set was to go beyond that.
        evaluator_reason: why the model was run, where it could not be traced.
        value: what the model gives, where that is no class.
        label: of a model with several labels the one that was asked about; the class says whether
            it is there.
        ahead: of which rivals the query's link stays ahead, if the answer is that.
        types: of nodes and edges, where there are several.
        losses: what each element is worth; None where that was not measured.
    """

    query: Query
    predicted_class: int | None  # None where it is a value
    probabilities: tuple[float, ...]
    selected: Mapping[str, tuple[Member, ...]]  # of each selectable kind, ids ascending
    steps: tuple[Step, ...]
    fidelity: FidelityEstimate
    search_fidelity: FidelityEstimate
    status: Status
    parameters: Parameters
    graph: GraphSummary
    evaluator: str
    evaluations: int
    seconds: float
    version: str
    certificate: Certificate | None = None
    versus: Versus | None = None
    chance: FidelityEstimate | None = None
    evaluator_reason: str = ""  # why the model was run, where it could not be traced
    value: PredictedValue | None = None
    label: int | None = None  # the class says whether it is there: 1 or 0
    ahead: StaysAhead | None = None  # of the query's rivals, if the answer is that
    types: Types | None = None  # of nodes and edges, where there are several
    losses: Losses | None = None  # what each element is worth; None where that was not measured

    @property
    def node(self) -> int:
        """The node that was asked about."""
        if self.query.level != "node":
            raise InputError(
                f"explanation: expected one of a node, got one of {self.query}: see its query"
            )
        return self.query.index

    @property
    def nodes(self) -> TypedMembers[int]:
        """V_s, the selected nodes; with several types `nodes["author"]` are those of one."""
        nodes = tuple(map(_number, self.selected.get(NODES, ())))
        return grouped_members(nodes, self.types, nodes_by_type)

    @property
    def features(self) -> TypedMembers[int]:
        """F_s, the selected features; with several types `features["author"]` are those of one."""
        features = tuple(map(_number, self.selected.get(FEATURES, ())))
        return grouped_members(features, self.types, features_by_type)

    @property
    def node_types(self) -> tuple[str, ...]:
        """The selected types of nodes, where sets are of whole types."""
        return tuple(self.called(TYPES)) if self.types is not None else ()

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The selected relations, where sets are of whole relations."""
        types = self.types
        if types is None:
            return ()
        return tuple(types.relation_of(_number(each)) for each in self.selected.get(RELATIONS, ()))

    def called(self, kind: Kind) -> list[str]:
        """Return what the selected elements of a kind are called, with their types."""
        if self.types is None:
            raise InputError("types: expected several, with which elements are called, got one")
        return [named_member(kind, member, self.types) for member in self.selected.get(kind, ())]

    @property
    def feature_elements(self) -> list[tuple[int, ...]]:
        """The selected features, element by element: a group of columns is one."""
        return gathered(self.features, self.parameters.feature_groups)

    @property
    def edges(self) -> TypedMembers[EdgeLabel]:
        """The selected edges, each by its nodes (u, v), or (u, v, k) if there are several.

        With several types `edges["author", "writes", "paper"]` are those of one relation.
        """
        edges = tuple(edge for edge in self.selected.get(EDGES, ()) if isinstance(edge, tuple))
        return grouped_members(edges, self.types, edges_by_relation)

    def elements(self, kind: str) -> list[tuple[Member, ...]]:
        """Return what is kept of a kind, element by element: a group of features is one."""
        if kind == FEATURES:
            return [*self.feature_elements]
        return [(member,) for member in self.selected.get(kind, ())]

    def ordered(self, kind: str) -> list[tuple[Member, ...]]:
        """Return what is kept of a kind, that first without which most is lost.

        In the order of ids where that was not measured.
        """
        every = self.elements(kind)
        if self.losses is None:
            return every
        place = {loss.members: at for at, loss in enumerate(self.losses.of.get(kind, ()))}
        return sorted(every, key=lambda members: place.get(members, len(place)))

    def loss(self, kind: str) -> list[ElementLoss]:
        """Return the fidelity that is lost without each element of a kind, the largest first.

        Each with its interval, on samples that the search has not seen. Empty where that was not
        measured.
        """
        return [] if self.losses is None else self.losses.intervals(kind)

    @property
    def probability(self) -> float:
        """The model's probability of the predicted class."""
        if self.predicted_class is None:
            raise InputError(f"explanation: expected one of a class, got one of {self.answer}")
        return self.probabilities[self.predicted_class]

    @property
    def answer(self) -> str:
        """What the model says, in a word or two."""
        if self.value is not None:
            return str(self.value)
        if self.ahead is not None:
            return _ahead(self.query, self.ahead.top)
        if self.label is not None:
            return f"label {self.label}" if self.predicted_class else f"no label {self.label}"
        return f"class {self.predicted_class}"

    @property
    def least_tolerance(self) -> float | None:
        """The tolerance that would have been enough, if the samples tell.

        None where they are too few, and where they show no smaller one than the certificate does.
        """
        least = None if self.value is None else self.value.least_tolerance
        if self.value is None or least is None:
            return None
        return None if self.certified and least >= self.value.tolerance else least

    @property
    def certified(self) -> bool:
        """Whether the fidelity was shown to be at least τ, with all else redrawn."""
        shown = self.certificate is not None and self.certificate.certified
        return shown and self.status != "conditional"

    @property
    def caveat(self) -> str | None:
        """What was left at its true values, though it may matter; None if nothing was."""
        if self.graph.context_matters:
            return (
                f"nodes more than {self.graph.hops} hops away matter too, and kept their true "
                "features"
            )
        if self.graph.checked == "none":
            return "the graph around the cut was left out, and whether it matters was not checked"
        return None

    @property
    def node_entropy(self) -> float:
        """Effective size of the node set: the log of its count, 0 for none."""
        return math.log(max(1, len(self.nodes)))

    @property
    def feature_entropy(self) -> float:
        """Effective size of the feature set: the log of its count, 0 for none; a group is one."""
        return math.log(max(1, len(self.elements(FEATURES))))

    @property
    def edge_entropy(self) -> float:
        """Effective size of the edge set: the log of its count, 0 for none."""
        return math.log(max(1, len(self.edges)))

    @property
    def entropy(self) -> float:
        """Effective size of the whole set: the sum over its kinds."""
        return sum(math.log(max(1, len(self.elements(kind)))) for kind in self.selected)

    def edge_mask(
        self, edge_index: Tensor, attributes: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        """Return ones for the columns (E,) of the graph's edge index that are kept.

        Those are all where edges are not selectable.

        Args:
            edge_index: (2, E), of the whole graph.
            attributes: edge-level tensors (E, …) that the model gets, all of them by their names:
                where there are several edges between the same nodes, they say which is which.
        """
        self._refuse_types()
        if EDGES not in self.selected:
            return torch.ones(edge_index.size(1), device=edge_index.device)
        given, expected = sorted(attributes or {}), sorted(self.graph.edge_inputs)
        if given != expected and any(len(edge) > 2 for edge in self.edges):
            raise InputError(
                f"attributes: expected {', '.join(expected) or 'none'}, by which several edges "
                f"between the same nodes are told apart, got {', '.join(given) or 'none'}"
            )
        columns = edge_columns(
            self.edges,
            edge_index,
            nodes=self.graph.num_nodes,
            directed=self.graph.directed,
            attributes=attributes,
        )
        return columns.float()

    @property
    def claim(self) -> Claim:
        """The facts that `sentence` is about."""
        certificate = self.certificate
        return Claim(
            query=self.query,
            predicted_class=self.predicted_class,
            probability=None if self.predicted_class is None else self.probability,
            kept={kind: len(self.elements(kind)) for kind in self.selected},
            rows_suffice=self._rows_suffice,
            counted=self._told_by_type,
            status=self.status,
            tau=self.parameters.tau,
            shown=certificate.tau if certificate else self.parameters.tau,
            sure=1 - certificate.delta if certificate and certificate.certified else None,
            fidelity=self.fidelity,
            other=self.versus.other if self.versus else None,
            contrast=self.versus.contrast if self.versus else None,
            caveat=self.caveat,
            chance=self.chance,
            value=self.value.value if self.value else None,
            tolerance=self.value.tolerance if self.value else None,
            side=self.value.side if self.value else None,
            label=self.label,
            answer=self.answer,
            weightiest=self._weightiest(),
            without_itself=self._is_without_itself,
        )

    def _weightiest(self) -> tuple[tuple[str, tuple[Member, ...], float], ...]:
        """Return of each kind the element without which most is surely lost, and how much."""
        if self.types is not None:
            return ()
        first = [(kind, loss) for kind in self.selected for loss in self.loss(kind)[:1]]
        first.sort(key=lambda one: -one[1].value)
        return tuple((kind, one.members, one.value) for kind, one in first if one.lower > 0)

    @property
    def _is_without_itself(self) -> bool:
        """Whether nodes are kept, and not the one that was asked about."""
        return (
            self.query.level == "node" and bool(self.nodes) and (self.query.index not in self.nodes)
        )

    @property
    def _told_by_type(self) -> dict[str, str]:
        """What is kept of each kind in words, where there are several types."""
        if len(self._known_types) < 2:
            return {}
        told: dict[str, str] = {}
        if TYPES in self.selected:
            told[TYPES] = f"all {' and '.join(self.node_types)} nodes"
        if RELATIONS in self.selected:
            told[RELATIONS] = f"all edges {' and '.join(self.called(RELATIONS))}"
        by_type: dict[Kind, Sequence[Any]] = {
            NODES: self.nodes,
            FEATURES: self.features,
            EDGES: self.edges,
        }
        for kind, members in by_type.items():
            if members and isinstance(members, TypedMembers):
                told[kind] = counted_in_words(kind, members)
        return told

    @property
    def _rows_suffice(self) -> bool:
        """Whether a kept node keeps something of itself though no feature is kept."""
        return self.types is not None and self.graph.num_features > self.types.num_features

    def sentence(self, names: Names | None = None) -> str:
        """Say what was found and how sure that is, in the words of the data set."""
        return text(phrases(self.claim, names))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"format": FORMAT, **dataclasses.asdict(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Explanation:
        """Rebuild an explanation from `to_dict`'s values, of this version or an earlier one."""
        try:
            explanation = rebuilt(cls, up_to_date(values))._without_false_claim()
            _check_sound(explanation)
        except ValueError as error:
            raise InputError(
                f"values: expected an explanation as to_dict writes it, got another: {error}"
            ) from None
        return explanation

    def _without_false_claim(self) -> Explanation:
        """Return an earlier version's claim about less than all that matters as what it is."""
        if self.graph.context_matters and self.status != "budget exhausted":
            return dataclasses.replace(self, status="conditional")
        return self

    def to_json(self) -> str:
        """Return the explanation as one line of JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """Rebuild an explanation from `to_json`'s text."""
        try:
            values = parse(text)
        except ValueError as error:
            raise InputError(f"text: expected JSON, got something else: {error}") from None
        if not isinstance(values, dict):
            raise InputError(f"text: expected a JSON object, got {type(values).__name__}")
        return cls.from_dict(values)

    def node_mask(self, node_mask_type: MaskType = "attributes") -> Tensor:
        """Return ones for the entries of x that are kept.

        Those are all where neither nodes nor features are selectable.

        Args:
            node_mask_type: `attributes` gives V_s ⊗ F_s (N, d), `object` V_s (N, 1),
                `common_attributes` F_s (1, d).
        """
        self._refuse_types()
        rows = self._indicator(NODES, self.graph.num_nodes).unsqueeze(1)  # (N, 1)
        columns = self._indicator(FEATURES, self.graph.num_features).unsqueeze(0)  # (1, d)
        masks = {
            "attributes": lambda: rows * columns,
            "object": lambda: rows,
            "common_attributes": lambda: columns,
        }
        check_choice("node_mask_type", node_mask_type, masks)
        return masks[node_mask_type]()

    def to_pyg(
        self,
        x: Tensor | None = None,
        edge_index: Tensor | None = None,
        *,
        node_mask_type: MaskType = "attributes",
        edge_attributes: Mapping[str, Tensor] | None = None,
    ) -> PygExplanation:
        """Return the explanation as PyG's `Explanation`, with masks on the whole graph's ids.

        Args:
            x: (N, d), carried along when given, as PyG's own metrics want it.
            edge_index: (2, E), carried along when given; needed where sets are of edges.
            node_mask_type: `attributes` gives V_s ⊗ F_s (N, d), `object` V_s (N, 1),
                `common_attributes` F_s (1, d).
            edge_attributes: as of `edge_mask`.
        """
        check_choice("node_mask_type", node_mask_type, get_args(MaskType))
        self._refuse_types()
        carried = {"x": x, "edge_index": edge_index}
        if EDGES in self.selected:
            if edge_index is None:
                raise InputError("edge_index: expected with a set of edges, got None")
            carried["edge_mask"] = self.edge_mask(edge_index, edge_attributes)
        if NODES in self.selected or FEATURES in self.selected:
            carried["node_mask"] = self.node_mask(node_mask_type)
        return PygExplanation(
            **{name: value for name, value in carried.items() if value is not None}
        )

    def _refuse_types(self) -> None:
        """Refuse a mask of all nodes or edges where they are of several types."""
        if self.types is not None:
            raise InputError(
                "explanation: expected one of a graph of one type, got several: masks by type are "
                "those of zorro.ZorroExplainer behind PyG's Explainer"
            )

    def _indicator(self, kind: Kind, size: int) -> Tensor:
        """Return ones for what is kept of a kind: for all of it if it is not selectable."""
        if kind not in self.selected:
            return torch.ones(size)
        kept = torch.tensor([_number(member) for member in self.selected[kind]], dtype=torch.long)
        indicator: Tensor = index_to_mask(kept, size).float()
        return indicator

    def __repr__(self) -> str:
        return (
            f"Explanation({self.query} → {self.answer}{self._against()}: "
            f"{self._counts}, fidelity "
            f"{interval(self.fidelity)}, {self.status})"
        )

    def __str__(self) -> str:
        return self.described()

    def described(self, names: Names | None = None) -> str:
        """Return all that there is to say, a line each, in the words of the data set."""
        lines = self._lines(names or Names())
        width = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in lines)

    def _repr_html_(self) -> str:
        return card(phrases(self.claim), self._lines(Names()), drawing=self.band_svg())

    def band_svg(self) -> str:
        """Return a value in the band that it may not leave; nothing if the answer is no value."""
        if self.value is None:
            return ""
        value = self.value
        return band(value.value, low=value.low, high=value.high, least=self.least_tolerance)

    def _shown(self, certificate: Certificate) -> str:
        condition = "only while that is so, " if self.status == "conditional" else ""
        return f"{condition}{_claim(certificate)}"

    def _against(self, names: Names | None = None) -> str:
        if self.versus is None:
            return ""
        how = "rather than" if self.versus.contrast == "beats" else "or any other than"
        named = label((names or Names()).classes, self.versus.other)
        return f" {how} {named or self.versus.other}"

    def _answer_in(self, names: Names) -> str:
        is_class = self.predicted_class is not None and self.label is None
        named = label(names.classes, self.predicted_class or 0) if is_class else None
        return f"{self.answer}, {named}" if named else self.answer

    def _how_sure(self) -> str:
        if self.predicted_class is not None:
            return f" (probability {hundredths(self.probability)})"
        least = self.least_tolerance
        return "" if least is None else f" ({least:.3g} would have been enough)"

    def _lines(self, names: Names) -> list[tuple[str, str]]:
        p = self.parameters
        seen = self.search_fidelity
        said = f"{self._answer_in(names)}{self._against(names)}{self._how_sure()}"
        return [
            (self.query.kind, self.query.label),
            ("prediction", said),
            ("rests on", self._counts),
            *((_spelled(kind), self._listed(kind, names)) for kind in self.selected),
            *([("order", self._order)] if self.losses else []),
            (
                "fidelity",
                f"{interval(self.fidelity)} on {self._measured_on()} "
                f"({hundredths(seen.value)} on the {seen.samples} of the search)",
            ),
            *([("by chance", _chance(self.chance, p.tau))] if self.chance else []),
            ("status", f"{self.status} (τ = {p.tau:g}, search {p.search!r}, {self._redrawn})"),
            *([("but", self.caveat)] if self.caveat else []),
            *([("certificate", self._shown(self.certificate))] if self.certificate else []),
            ("looked at", self._looked_at),
            (
                "took",
                f"{self.seconds:.2f} s, {self.evaluations} evaluations ({self.evaluator}"
                f"{f', since {self.evaluator_reason}' if self.evaluator_reason else ''})",
            ),
        ]

    def _listed(self, kind: str, names: Names) -> str:
        if self.types is not None:
            members = [member for members in self.ordered(kind) for member in members]
            return listed_by_type(kind, members, self.types)
        lost = {
            loss.members: f" ({hundredths(loss.value, signed=True)})"
            for loss in _turned(self.loss(kind))
        }
        return _listed(
            [
                f"{'+'.join(names.member(kind, member) for member in members)}"
                f"{lost.get(members, '')}"
                for members in self.ordered(kind)
            ]
        )

    @property
    def _order(self) -> str:
        assert self.losses is not None
        return (
            f"by what the fidelity changes without each, on {self.losses.samples} samples that "
            "the search has not seen"
        )

    @property
    def _looked_at(self) -> str:
        g = self.graph
        features = g.num_features if self.types is None else self.types.num_features
        size = f"{g.candidates} nodes × {features} features"
        if EDGES in self.selected:
            size += f", {g.edge_elements} edges"
        if self.query.level == "graph":
            return f"{size}, all of the graph"
        where = "the whole graph" if g.whole else f"{g.context} nodes of context"
        near = "however far away" if g.whole and not g.context else f"within {g.hops} hops"
        return f"{size} {near}, evaluated with {where}"

    @property
    def _redrawn(self) -> str:
        """What happens to all that is not kept."""
        p = self.parameters
        noises = [f"noise {p.noise!r}"] if redraws_features(self.selected) else []
        return ", ".join([*noises, *filter(None, [p.other_edges])])

    @property
    def _counts(self) -> str:
        return " and ".join(
            " × ".join(self._counted(kind) for kind in block)
            for block in ([kind for kind in block if kind in self.selected] for block in BLOCKS)
            if block
        )

    def _counted(self, kind: Kind) -> str:
        text = f"{len(self.elements(kind))} {_spelled(kind)}"
        by_type = {NODES: self.nodes, FEATURES: self.features, EDGES: self.edges}.get(kind)
        if isinstance(by_type, TypedMembers) and by_type and len(self._known_types) > 1:
            text += f" ({counted_by_type(by_type)})"
        return text

    @property
    def _known_types(self) -> tuple[str, ...]:
        return () if self.types is None else self.types.names

    def _measured_on(self) -> str:
        if self.fidelity.attempts:
            return f"the certificate's {self.fidelity.samples} samples"
        return f"{self.fidelity.samples} fresh samples"


def _number(member: Member) -> int:
    """Return what a node or a feature is called."""
    assert isinstance(member, int)
    return member


def _spelled(kind: str) -> str:
    return kind.replace("_", " ")


def _ahead(query: Query, top: int) -> str:
    if len(query.rivals) == 1:
        return f"ahead of {query.index}–{query.rivals[0]}"
    if top == 1:
        return f"ahead of {len(query.rivals)} others"
    return f"among the first {top} of {len(query.rivals) + 1}"


def _claim(certificate: Certificate) -> str:
    of = (
        f"{certificate.hits} of {certificate.samples} unseen samples, "
        f"attempt {certificate.attempts}"
    )
    if not certificate.certified:
        return f"none: a fidelity of {certificate.tau:g} was not shown ({of})"
    return (
        f"the fidelity is at least {certificate.bound:.3f} with {1 - certificate.delta:.0%} "
        f"confidence ({of})"
    )


def _chance(chance: FidelityEstimate, tau: float) -> str:
    return (
        f"{interval(chance)} of random inputs get this answer; the set is to add {tau:g} of what "
        "is left"
    )


def _check_sound(explanation: Explanation) -> None:
    """Raise `ValueError` if the parts of an explanation that was read do not fit together."""
    e, graph = explanation, explanation.graph
    for kind, members in e.selected.items():
        if kind not in KINDS:
            raise ValueError(f"selected: expected {', '.join(KINDS)}, got {kind[:40]}")
        for member in members:
            is_edge = isinstance(member, tuple) and len(member) in (2, 3)
            if is_edge != (kind in (EDGES, EDGE_ATTRIBUTES)):
                raise ValueError(f"selected.{kind}: expected {_EXPECTED[is_edge]}, got {member}")
    if sum(each is not None for each in (e.predicted_class, e.value, e.ahead)) != 1:
        raise ValueError(
            "predicted_class: expected one of a class, a value and what a link is ahead of, got "
            "none or several"
        )
    if e.predicted_class is not None and not 0 <= e.predicted_class < len(e.probabilities):
        raise ValueError(
            f"predicted_class: expected one of {len(e.probabilities)} classes, got "
            f"{e.predicted_class}"
        )
    for name, numbers, size in (
        ("query", e.query.seeds, graph.num_nodes),
        ("nodes", e.nodes, graph.num_nodes),
        ("features", e.features, graph.num_features),
        ("edges", [end for edge in e.edges for end in edge[:2]], graph.num_nodes),
    ):
        if numbers and not 0 <= min(numbers) <= max(numbers) < size:
            raise ValueError(
                f"{name}: expected ids from 0 to {size - 1}, got {min(numbers)} to {max(numbers)}"
            )
    for name, part in (("fidelity", e.fidelity), ("search_fidelity", e.search_fidelity)):
        if not 0 <= part.hits <= part.samples or part.samples < 1:
            raise ValueError(f"{name}: expected hits of samples, got {part.hits} of {part.samples}")
        if not 0 < part.confidence < 1:
            raise ValueError(f"{name}: expected a confidence below 1, got {part.confidence}")
    reals = [*e.probabilities, e.seconds, e.parameters.tau, *(s.fidelity for s in e.steps)]
    if e.value is not None:
        reals += [e.value.value, e.value.tolerance, e.value.least_tolerance or 0.0]
    if e.certificate is not None:
        reals += [e.certificate.bound, e.certificate.delta]
    if not all(map(math.isfinite, reals)):
        raise ValueError("numbers: expected finite ones, got some that are not")
    if e.status == "certified" and not e.certified:
        raise ValueError("status: expected a certificate with 'certified', got none")


def _listed(texts: Sequence[str], *, most: int = 20) -> str:
    text = ", ".join(texts[:most]) or "none"
    return text if len(texts) <= most else f"{text}, … ({len(texts) - most} more)"


def _turned(losses: Sequence[ElementLoss]) -> list[ElementLoss]:
    """Return losses as what the fidelity changes by."""
    return [dataclasses.replace(one, value=0.0 - one.value) for one in losses]
