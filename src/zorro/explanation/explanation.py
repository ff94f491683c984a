"""The result: which nodes and features a prediction rests on, and everything needed to check it.

This is the value. What is said of it, drawn of it or made of it for others stands in files of its
own, which import it. Some methods are doors to these and import them when they are called: readers
look for `print(explanation)` and `explanation.to_pyg()` here, and a registry of what to call would
be one more thing to know.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor

from zorro.elements import EDGES, FEATURES, NODES, RELATIONS, TYPES, Kind
from zorro.elements.edges import EdgeLabel, Member
from zorro.elements.groups import gathered
from zorro.elements.types import Relation, Types
from zorro.errors import InputError
from zorro.evaluation.estimate import FidelityEstimate
from zorro.explanation.losses import ElementLoss, Losses
from zorro.explanation.parts import GraphSummary, PredictedValue, Step, number_of
from zorro.explanation.typed import (
    TypedMembers,
    edges_by_relation,
    features_by_type,
    grouped_members,
    named_member,
    nodes_by_type,
)
from zorro.files.plain_json import parse
from zorro.files.typed_values import rebuilt
from zorro.graph.names import Names
from zorro.question import Query
from zorro.question.decision import StaysAhead, Versus
from zorro.question.parameters import Parameters
from zorro.search.certificate import Certificate

if TYPE_CHECKING:
    from torch_geometric.explain import Explanation as PygExplanation

    from zorro.explanation.sentence import Claim

Status = Literal[
    "certified",
    "conditional",
    "reached",
    "nothing needed",
    "everything needed",
    "budget exhausted",
]
FORMAT = 6  # of what is written
MaskType = Literal["attributes", "object", "common_attributes"]


@dataclass(frozen=True)
class Explanation:
    """An explanation S = (V_s, F_s) of the model's prediction for one node.

    With the features `features` of the nodes `nodes` at their true values and everything else in
    the computational graph replaced by noise, the model keeps its prediction with probability
    `bound` at least, where that was shown. `fidelity` is the estimate on held-out samples, which
    neither the search nor the certificate has seen; `search_fidelity` is the share on the samples
    that the set was chosen by. With a contrast, "keeps its prediction" reads "still
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
    >>> found.status, found.bound > 0.85
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
        fidelity: on held-out samples, a number that was fixed before.
        search_fidelity: on the samples that the set was chosen by.
        status: how far the claim goes.
        parameters: what was asked for.
        graph: where the query was evaluated.
        evaluator: which one, `"traced"`, `"recorded"` or `"any-model"`.
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
        nodes = tuple(map(number_of, self.selected.get(NODES, ())))
        return grouped_members(nodes, self.types, nodes_by_type)

    @property
    def features(self) -> TypedMembers[int]:
        """F_s, the selected features; with several types `features["author"]` are those of one."""
        features = tuple(map(number_of, self.selected.get(FEATURES, ())))
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
        return tuple(
            types.relation_of(number_of(each)) for each in self.selected.get(RELATIONS, ())
        )

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
    def bound(self) -> float | None:
        """What the fidelity is at least, with the certificate's confidence; None if not certified.

        The certificate's samples say it, which are others than those of `fidelity`: an estimate on
        few samples may lie below it by chance.
        """
        return self.certificate.shown if self.certificate and self.certified else None

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

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"format": FORMAT, **dataclasses.asdict(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Explanation:
        """Rebuild an explanation from `to_dict`'s values.

        What follows from other values is computed again, as the certificate from its hits: values
        of which one does not follow are refused.
        """
        from zorro.explanation.soundness import check_sound

        rest = {name: value for name, value in values.items() if name != "format"}
        try:
            if values.get("format") != FORMAT:
                raise ValueError(f"format: expected {FORMAT}, got {values.get('format')!r:.40}")
            explanation = rebuilt(cls, rest)
            check_sound(explanation)
        except ValueError as error:
            raise InputError(
                f"values: expected an explanation as to_dict writes it, got another: {error}"
            ) from None
        return explanation

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
        from zorro.explanation.masks import node_mask

        return node_mask(self, node_mask_type)

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
        from zorro.explanation.masks import edge_mask

        return edge_mask(self, edge_index, attributes)

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
        from zorro.explanation.masks import as_pyg

        return as_pyg(
            self,
            x,
            edge_index,
            node_mask_type=node_mask_type,
            edge_attributes=edge_attributes,
        )

    def __repr__(self) -> str:
        from zorro.explanation.text import summary

        return summary(self)

    def __str__(self) -> str:
        return self.described()

    def described(self, names: Names | None = None) -> str:
        """Return all that there is to say, a line each, in the words of the data set."""
        from zorro.explanation.text import described

        return described(self, names or Names())

    @property
    def claim(self) -> Claim:
        """The facts that `sentence` is about."""
        from zorro.explanation.claim import claim_of

        return claim_of(self)

    def sentence(self, names: Names | None = None) -> str:
        """Say what was found and how sure that is, in the words of the data set."""
        from zorro.explanation.sentence import phrases, text

        return text(phrases(self.claim, names))

    def _repr_html_(self) -> str:
        from zorro.explanation.notebook import shown

        return shown(self)

    def band_svg(self) -> str:
        """Return a value in the band that it may not leave; nothing if the answer is no value."""
        from zorro.explanation.band import band

        if self.value is None:
            return ""
        value = self.value
        return band(value.value, low=value.low, high=value.high, least=self.least_tolerance)


def _ahead(query: Query, top: int) -> str:
    if len(query.rivals) == 1:
        return f"ahead of {query.index}–{query.rivals[0]}"
    if top == 1:
        return f"ahead of {len(query.rivals)} others"
    return f"among the first {top} of {len(query.rivals) + 1}"
