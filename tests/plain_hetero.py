"""Fidelity of sets in graphs of several types the slow way, with nothing of the library.

Dictionaries of the whole graph are redrawn entry by entry, by a die of Python's own, and the model
is called as its owner calls it.
"""

import random

import torch


def plain_share(model, data, target, node, kept, *, samples=200, seed=5, presence=0.5):
    """Count how often the class of a node stays with all but a set redrawn.

    Args:
        model: called with dictionaries; gives scores of the target's nodes, or a dictionary.
        data: of several types.
        target: the type that is asked about.
        node: its number in that type.
        kept: nodes and features by type under "nodes" and "features"; edges, as pairs by relation,
            under "edges", of which those back along a relation `rev_…` are dropped and kept with
            it; types under "types" and relations under "relations". What has no entry stays as it
            is, and of nodes and features that are not both there the other is all.
        samples: how many.
        seed: of the die.
        presence: with what probability another edge is there.
    """
    die = random.Random(seed)

    def answer(x_dict, edge_index_dict):
        with torch.no_grad():
            out = model(x_dict, edge_index_dict)
        return int((out[target] if isinstance(out, dict) else out)[node].argmax())

    expected = answer(data.x_dict, data.edge_index_dict)
    stayed = 0
    for _ in range(samples):
        x_dict, edges = dict(data.x_dict), dict(data.edge_index_dict)
        if {"nodes", "features", "types"} & set(kept):
            x_dict = {name: _redrawn(name, x, kept, die) for name, x in x_dict.items()}
        if {"edges", "relations"} & set(kept):
            edges = _dropped(edges, kept, presence, die)
        stayed += answer(x_dict, edges) == expected
    return stayed, samples


def _redrawn(name, x, kept, die):
    """Return a type's features with all but what is kept drawn from its own columns."""
    nodes = set(range(len(x)))
    if "types" in kept:
        nodes = nodes if name in kept["types"] else set()
    elif "nodes" in kept:
        nodes = set(kept["nodes"].get(name, ()))
    x = x.clone()
    if x.dim() == 1:  # numbers of nodes
        true = x.clone()
        for row in set(range(len(x))) - nodes:
            x[row] = true[die.randrange(len(x))]
        return x
    features = set(range(x.size(1)))
    if "features" in kept:
        features = set(kept["features"].get(name, ()))
    true = x.clone()
    for row in range(len(x)):
        for column in range(x.size(1)):
            if row not in nodes or column not in features:
                x[row, column] = true[die.randrange(len(x)), column]
    return x


def _dropped(edges, kept, presence, die):
    """Return the edges without some, those of `rev_` relations with those they lead back along."""
    edges = dict(edges)
    for relation in [each for each in edges if not each[1].startswith("rev_")]:
        source, name, target = relation
        back = (target, f"rev_{name}", source)
        there = []
        for u, v in edges[relation].t().tolist():
            if "relations" in kept:
                is_kept = relation in kept["relations"]
            else:
                is_kept = (u, v) in kept["edges"].get(relation, ())
            there.append(is_kept or die.random() < presence)
        here = {
            pair for pair, is_there in zip(_pairs(edges[relation]), there, strict=True) if is_there
        }
        edges[relation] = edges[relation][:, torch.tensor(there, dtype=torch.bool)]
        if back in edges:
            stays = [(v, u) in here for u, v in _pairs(edges[back])]
            edges[back] = edges[back][:, torch.tensor(stays, dtype=torch.bool)]
    return edges


def _pairs(edge_index):
    return [tuple(pair) for pair in edge_index.t().tolist()]


def as_kept(explanation):
    """An explanation's set in the words of the plain loop."""
    kept = {}
    for kind in explanation.selected:
        if kind == "types":
            kept[kind] = explanation.node_types
        elif kind == "relations":
            kept[kind] = explanation.relations
        else:
            kept[kind] = dict(getattr(explanation, kind).items())
    return kept
