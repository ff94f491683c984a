"""Members of sets where there are several types: told by their type and their number in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex, TypeAlias, TypeVar, overload

import torch
from torch import Tensor

from zorro.arguments import whole_number, whole_numbers
from zorro.elements import COARSE, EDGES, FEATURES, NODES, RELATIONS, TYPES
from zorro.elements.edges import EdgeLabel, Member, named
from zorro.elements.types import Relation, Types
from zorro.errors import InputError
from zorro.graph.names import counted

Key = str | Relation
# What a user names: of the only type, or by type and relation.
Numbers: TypeAlias = (
    Iterable[SupportsIndex]
    | Mapping[str, Iterable[SupportsIndex]]
    | Mapping[Key, Iterable[SupportsIndex]]
)
Pairs: TypeAlias = (
    Iterable[Sequence[SupportsIndex]]
    | Mapping[Relation, Iterable[Sequence[SupportsIndex]]]
    | Mapping[Key, Iterable[Sequence[SupportsIndex]]]
)
T = TypeVar("T")


class TypedMembers(tuple[T, ...]):
    """Members of all types by their numbers among all, and by type: `nodes["author"]`.

    Of edges by relation: `edges["author", "writes", "paper"]` are pairs of numbers in the two
    types. A type that has nodes of which none is a member gives nothing.
    """

    _own: Mapping[Key, tuple[T, ...]]

    @classmethod
    def of(
        cls, members: Iterable[T], own: Mapping[Key, tuple[T, ...]] | None = None
    ) -> TypedMembers[T]:
        """Return members, given the same by type or relation where there are several."""
        made = cls(members)
        made._own = own or {}
        return made

    @overload
    def __getitem__(self, key: SupportsIndex) -> T: ...

    @overload
    def __getitem__(self, key: slice | Key) -> tuple[T, ...]: ...

    def __getitem__(self, key: SupportsIndex | slice | Key) -> T | tuple[T, ...]:
        if not isinstance(key, str | tuple):
            return super().__getitem__(key)
        if key not in self._own:
            known = ", ".join(map(repr, self._own)) or "none, since there is one type"
            raise InputError(f"type: expected one of {known}, got {key!r}")
        return self._own[key]

    def items(self) -> Iterator[tuple[Key, tuple[T, ...]]]:
        """Yield the types that have members, each with them."""
        return ((key, own) for key, own in self._own.items() if own)


def grouped_members(
    members: Sequence[T],
    types: Types | None,
    grouped: Callable[[Sequence[T], Types], TypedMembers[T]],
) -> TypedMembers[T]:
    """Return members by their types, where there are several."""
    return TypedMembers.of(members) if types is None else grouped(members, types)


def nodes_by_type(nodes: Sequence[int], types: Types) -> TypedMembers[int]:
    """Return nodes by their types."""
    own: dict[Key, list[int]] = {name: [] for name in types.names}
    for node in nodes:
        name, number = types.local(node)
        own[name].append(number)
    return TypedMembers.of(nodes, {name: tuple(each) for name, each in own.items()})


def features_by_type(features: Sequence[int], types: Types) -> TypedMembers[int]:
    """Return features by the types that have them."""
    own: dict[Key, list[int]] = {each.name: [] for each in types.nodes if each.features}
    for column in features:
        name, number = types.local_feature(column)
        own[name].append(number)
    return TypedMembers.of(features, {name: tuple(each) for name, each in own.items()})


def edges_by_relation(edges: Sequence[EdgeLabel], types: Types) -> TypedMembers[EdgeLabel]:
    """Return edges by their relations, each as the numbers of its ends in their types."""
    own: dict[Key, list[EdgeLabel]] = {types.relations[each]: [] for each in types.joined}
    for edge in edges:
        relation, pair = local_edge(edge, types)
        own[relation].append(pair)
    return TypedMembers.of(edges, {name: tuple(each) for name, each in own.items()})


def local_edge(edge: EdgeLabel, types: Types) -> tuple[Relation, EdgeLabel]:
    """Return an edge's relation, and the numbers of its ends in their types."""
    u, v, *number = edge
    repeated, place = divmod(number[0] if number else 0, len(types.joined))
    relation = types.relation_of(place)
    ends = {types.local(u)[0]: types.local(u)[1], types.local(v)[0]: types.local(v)[1]}
    if relation[0] == relation[2]:
        pair = (types.local(u)[1], types.local(v)[1])
    else:
        pair = (ends[relation[0]], ends[relation[2]])
    return relation, (*pair, repeated) if repeated else pair


def spelled_relation(relation: Relation) -> str:
    """Return a relation as a text.

    >>> spelled_relation(("author", "writes", "paper"))
    'author–writes–paper'
    """
    return "–".join(relation)


def named_member(kind: str, member: Member, types: Types) -> str:
    """Return what an element is called: its type, and its number in that."""
    if kind == TYPES:
        assert isinstance(member, int)
        return types.names[member]
    if kind in COARSE:
        assert isinstance(member, int)
        return spelled_relation(types.relation_of(member))
    if isinstance(member, tuple):
        relation, pair = local_edge(member, types)
        again = f" ({pair[2]})" if len(pair) > 2 else ""
        return f"{relation[0]} {pair[0]} – {relation[2]} {pair[1]}{again}"
    name, number = types.local(member) if kind == NODES else types.local_feature(member)
    return f"{name} {number}"


def listed_by_type(kind: str, members: Sequence[Member], types: Types, *, most: int = 20) -> str:
    """Return members as a text, type by type."""
    if kind in COARSE:
        return ", ".join(named_member(kind, member, types) for member in members) or "none"
    shown = members[:most]
    grouping: dict[str, Callable[[Any, Types], TypedMembers[Any]]] = {
        NODES: nodes_by_type,
        FEATURES: features_by_type,
    }
    by_type = grouping.get(kind, edges_by_relation)(shown, types)
    parts = [
        f"{key if isinstance(key, str) else spelled_relation(key)} "
        f"{', '.join(named(member) for member in own)}"
        for key, own in by_type.items()
    ]
    text = "; ".join(parts) or "none"
    return text if len(members) <= most else f"{text}, … ({len(members) - most} more)"


def global_nodes(name: str, given: Any, types: Types) -> list[int]:
    """Return the numbers among all nodes of those that a user names by type."""
    return _numbers(name, given, types.names, [each.count for each in types.nodes], types.node)


def global_features(name: str, given: Any, types: Types) -> list[int]:
    """Return the columns among all features of those that a user names by type."""
    counts = [each.features for each in types.nodes]
    return _numbers(name, given, types.names, counts, types.feature)


def _numbers(
    argument: str, given: Any, names: Sequence[str], counts: Sequence[int], number: Any
) -> list[int]:
    if not isinstance(given, Mapping):
        raise InputError(
            f"{argument}: expected numbers by type, as {{{names[0]!r}: [0]}}, got {given!r:.60}"
        )
    found = []
    for name, members in given.items():
        if name not in names:
            raise InputError(
                f"{argument}: expected some of the types {', '.join(names)}, got {name!r}"
            )
        count = counts[names.index(name)]
        if count == 0:
            raise InputError(
                f"{argument}[{name!r}]: expected a type with features, got one without"
            )
        numbers = whole_numbers(f"{argument}[{name!r}]", members, count)
        found += [number(name, each) for each in numbers]
    return found


def global_edges(
    argument: str,
    given: Any,
    types: Types,
    known: Iterable[EdgeLabel],
    elsewhere: Callable[[int, int], int],
) -> list[EdgeLabel]:
    """Return the edges that a user names by relation, as they are called among all.

    Args:
        argument: its name.
        given: pairs of numbers in the two types, by relation.
        types: of the graph.
        known: edges there are; of several between the same nodes all are meant.
        elsewhere: how many edges of the whole graph lead from a node to another. Those that are
            not known make no difference.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"{argument}: expected pairs by relation, got {given!r:.60}")
    by_ends: dict[tuple[Relation, EdgeLabel], list[EdgeLabel]] = {}
    for edge in known:
        relation, pair = local_edge(edge, types)
        by_ends.setdefault((relation, pair[:2]), []).append(edge)
    found: list[EdgeLabel] = []
    for key, pairs in given.items():
        if key not in types.relations:
            every = ", ".join(map(str, types.relations))
            raise InputError(f"{argument}: expected some of the relations {every}, got {key!r}")
        number = types.relations.index(key)
        relation = types.relations[types.back[number]]
        for place, pair in enumerate(pairs):
            u, v = _pair(f"{argument}[{key!r}][{place}]", pair, key, types)
            ends = (u, v) if relation == key else (v, u)
            both = [(relation, ends)]
            if relation[0] == relation[2] and not types.has_direction(number):
                both.append((relation, (ends[1], ends[0])))
            matching = [edge for each in both for edge in by_ends.get(each, [])]
            if not matching and not elsewhere(types.node(key[0], u), types.node(key[2], v)):
                raise InputError(
                    f"{argument}[{key!r}][{place}]: expected an edge that carries messages, got "
                    f"{(u, v)}"
                )
            found += matching
    return found


def _pair(name: str, pair: Any, relation: Relation, types: Types) -> tuple[int, int]:
    counts = {each.name: each.count for each in types.nodes}
    try:
        u, v = pair
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected two nodes (u, v), got {pair!r:.60}") from None
    return (
        whole_number(name, u, counts[relation[0]]),
        whole_number(name, v, counts[relation[2]]),
    )


def chosen_coarse(kind: str, given: Iterable[Any], types: Types, device: Any) -> Tensor:
    """Return which types, or relations, a user names, as a mask over all."""
    if isinstance(given, str):
        raise InputError(f"{kind}: expected a list, got {given!r:.60}")
    names: list[Any] = list(types.names) if kind == TYPES else list(types.relations)
    mask = torch.zeros(
        len(types.nodes) if kind == TYPES else len(types.joined), dtype=torch.bool, device=device
    )
    for each in given:
        if each not in names:
            raise InputError(f"{kind}: expected some of {', '.join(map(str, names))}, got {each!r}")
        place = names.index(each)
        mask[place if kind == TYPES else types.element_of[place]] = True
    return mask


def by_type(
    members: Mapping[str, Sequence[Any] | None], types: Types
) -> dict[str, Sequence[Any] | dict[Key, tuple[Any, ...]] | None]:
    """Return members by kind, by their numbers among all, as users name them.

    Args:
        members: of each kind; None if all are kept.
        types: of the graph.
    """
    grouping: dict[str, Callable[[Any, Types], TypedMembers[Any]]] = {
        NODES: nodes_by_type,
        FEATURES: features_by_type,
        EDGES: edges_by_relation,
    }
    found: dict[str, Sequence[Any] | dict[Key, tuple[Any, ...]] | None] = {}
    for kind, some in members.items():
        if some is None:
            found[kind] = None
        elif kind in grouping:
            found[kind] = dict(grouping[kind](some, types).items())
        elif kind == TYPES:
            found[kind] = [types.names[number] for number in some]
        elif kind == RELATIONS:
            found[kind] = [types.relation_of(number) for number in some]
        else:
            raise InputError(f"{kind}: expected None in a graph of several types, got some")
    return found


def counted_by_type(members: TypedMembers[Any]) -> str:
    """Return how many members there are of each type.

    >>> counted_by_type(TypedMembers.of((1, 2), {"author": (1,), "paper": (0,)}))
    '1 author, 1 paper'
    """
    return ", ".join(
        f"{len(own)} {key if isinstance(key, str) else spelled_relation(key)}"
        for key, own in members.items()
    )


def counted_in_words(kind: str, members: TypedMembers[Any]) -> str:
    """Return how many members there are of each type, as a part of a sentence.

    >>> counted_in_words("nodes", TypedMembers.of((1, 2, 9), {"author": (1, 2), "paper": (0,)}))
    '2 authors and 1 paper'
    >>> counted_in_words("features", TypedMembers.of((1,), {"author": (1,)}))
    '1 author feature'
    """
    nouns: dict[str, str] = {NODES: "{}", FEATURES: "{} feature"}
    parts = [
        f"{counted(len(own), 'edge')} {spelled_relation(key)}"
        if not isinstance(key, str)
        else counted(len(own), nouns[kind].format(key))
        for key, own in members.items()
    ]
    return " and ".join(parts)
