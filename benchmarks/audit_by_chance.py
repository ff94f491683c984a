"""Audits of what is drawn by chance, which must find nothing, and of planted effects.

Eight models, of three kinds, on small graphs with and without hubs, are explained once. Each is
then audited with truths and training nodes drawn by coins, with sets drawn at random, and with
truths drawn by the model's own probabilities. Of the planted effects it is counted how often each
is found. `python benchmarks/audit.py --only chance` writes the rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import GAT, GCN, GraphSAGE
from torch_geometric.utils import barabasi_albert_graph, to_undirected

from zorro import Explanation, Zorro
from zorro.audit import Audit, GraphSetting, audit

Numbers = NDArray[np.int64]
Row = tuple[str, str, str]  # what, measured, goal
QUERIES = 60  # of each model
ROUNDS = 25  # of each model and each kind of chance
WORDS = 20
OF_TRUTH = {"leaked feature", "mistakes differ", "typical of errors", "training nodes"}
CONFIDENT = {"confident and wrong"}
OF_SETS = {"dominant feature", "single neighbour", "training nodes"}


@dataclass(frozen=True)
class Explained:
    """A model's explanations, and what its answers are."""

    name: str
    data: Data
    explanations: list[Explanation]
    predicted: Numbers  # (N,)
    probabilities: NDArray[np.float64]  # (N, classes)

    @property
    def classes(self) -> int:
        """How many there are."""
        return int(self.probabilities.shape[1])

    def audited(
        self,
        truth: Numbers,
        training: NDArray[np.bool_],
        explanations: Sequence[Explanation] | None = None,
    ) -> Audit:
        """Return the audit with these true classes (N,) and training nodes (N,)."""
        some = self.explanations if explanations is None else explanations
        setting = GraphSetting(
            self.data.x, self.data.edge_index, self.predicted, labels=truth, training=training
        )
        truths = {e.query.key: int(truth[e.query.index]) for e in some}
        return audit(some, truth=truths, setting=setting)


def papers(seed: int, sizes: Sequence[int], *, hints: float = 0.35, hubs: bool = False) -> Data:
    """Papers that cite mostly their own class, or the most cited, and whose words hint at it."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    x = (torch.rand(len(y), WORDS, generator=generator) < 0.12).float()
    each = WORDS // len(sizes) // 2
    for number in range(len(sizes)):
        own = (y == number).nonzero().flatten()
        hinting = torch.rand(len(own), each, generator=generator) < hints
        x[own, number * each : (number + 1) * each] = hinting.float()
    like = (y[:, None] == y[None, :]).float()
    cites = torch.rand(len(y), len(y), generator=generator) < 0.01 + 0.05 * like
    edge_index = to_undirected(cites.triu(1).nonzero().T)
    if hubs:
        torch.manual_seed(seed)
        edge_index = barabasi_albert_graph(len(y), 2)
    train_mask = torch.rand(len(y), generator=generator) < 0.5
    return Data(x=x, edge_index=edge_index, y=y, train_mask=train_mask)


def trained(kind: type[Any], data: Data, seed: int, epochs: int) -> torch.nn.Module:
    """Return a model of two layers."""
    torch.manual_seed(seed)
    model: torch.nn.Module = kind(WORDS, 16, num_layers=2, out_channels=int(data.y.max()) + 1)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for _ in range(epochs):
        optimiser.zero_grad()
        scores: Tensor = model(data.x, data.edge_index)[data.train_mask]
        loss = torch.nn.functional.cross_entropy(scores, data.y[data.train_mask])
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return model.eval()


def explained_models() -> Iterator[Explained]:
    """Yield the models with their explanations."""
    graphs = {
        "GCN, 3 classes": (GCN, papers(0, [40, 40, 40]), 80),
        "GCN, unequal classes": (GCN, papers(1, [80, 40]), 80),
        "GraphSAGE, 3 classes": (GraphSAGE, papers(2, [40, 40, 40]), 80),
        "GAT, unequal classes": (GAT, papers(3, [70, 30, 20]), 80),
        "GCN, hubs": (GCN, papers(4, [60, 60], hubs=True), 80),
        "GraphSAGE, hubs": (GraphSAGE, papers(5, [40, 40, 40], hubs=True), 80),
        "GCN, 4 classes": (GCN, papers(6, [30, 30, 30, 30]), 80),
        "GCN, random weights": (GCN, papers(7, [40, 40, 40], hints=0.12), 0),
    }
    for seed, (name, (kind, data, epochs)) in enumerate(graphs.items()):
        model = trained(kind, data, seed, epochs)
        with torch.no_grad():
            probabilities = model(data.x, data.edge_index).double().softmax(1).numpy()
        zorro = Zorro(model, data.x, data.edge_index)
        nodes = torch.randperm(len(data.y), generator=torch.Generator().manual_seed(seed))
        explanations = [zorro.explain(node) for node in nodes[:QUERIES].tolist()]
        yield Explained(name, data, explanations, probabilities.argmax(1), probabilities)


# Truths that have nothing to do with what explanations rest on.
def even_coins(case: Explained, rng: np.random.Generator) -> Numbers:
    return rng.integers(0, case.classes, len(case.predicted))


def loaded_coins(case: Explained, rng: np.random.Generator) -> Numbers:
    rest = case.classes - 1
    return rng.choice(case.classes, len(case.predicted), p=[0.6, *[0.4 / rest] * rest])


def errors_by_coins(case: Explained, rng: np.random.Generator) -> Numbers:
    return flipped(case, rng, np.full(len(case.predicted), 0.3))


def shuffled(case: Explained, rng: np.random.Generator) -> Numbers:
    return rng.permutation(case.data.y.numpy())


def as_promised(case: Explained, rng: np.random.Generator) -> Numbers:
    """By the model's own probabilities: the truths by which it promises no more than it holds."""
    above = case.probabilities.cumsum(1) > rng.random(len(case.predicted))[:, None]
    truths: Numbers = above.argmax(1)
    return truths


def flipped(case: Explained, rng: np.random.Generator, chances: NDArray[np.float64]) -> Numbers:
    """The answers, wrong with the given chances (N,)."""
    others = (case.predicted + rng.integers(1, case.classes, len(chances))) % case.classes
    return np.where(rng.random(len(chances)) < chances, others, case.predicted)


def redrawn(case: Explained, rng: np.random.Generator) -> list[Explanation]:
    """Sets of the same sizes: as many nodes at each distance, as many features that occur."""
    setting = GraphSetting(case.data.x, case.data.edge_index)
    found = []
    for e in case.explanations:
        place = setting.place(e)
        assert place.hops is not None
        is_kept = np.isin(place.nodes, e.nodes)
        nodes = [
            rng.choice(place.nodes[place.hops == hop], is_kept[place.hops == hop].sum(), False)
            for hop in np.unique(place.hops)
        ]
        present = place.occurring[list(e.features)]
        features = [
            rng.choice(np.flatnonzero(place.occurring == side), (present == side).sum(), False)
            for side in (True, False)
        ]
        drawn = {
            "nodes": tuple(sorted(np.concatenate(nodes).tolist())),
            "features": tuple(sorted(np.concatenate(features).tolist())),
        }
        found.append(dataclasses.replace(e, selected=drawn))
    return found


# Truths of which an audit should say something.
def unsure_are_wrong(case: Explained, rng: np.random.Generator) -> Numbers:
    """Of each class, the less probable half is wrong more often."""
    probability = case.probabilities.max(1)
    chances = np.zeros(len(probability))
    for number in range(case.classes):
        own = case.predicted == number
        if own.any():
            chances[own] = np.where(probability[own] < np.median(probability[own]), 0.6, 0.1)
    return flipped(case, rng, chances)


def feature_misleads(case: Explained, rng: np.random.Generator) -> Numbers:
    """Answers whose set keeps the feature that is nearest to half of all sets are wrong."""
    keeps = np.zeros((len(case.predicted), WORDS), dtype=bool)
    for e in case.explanations:
        keeps[e.query.index, list(e.features)] = True
    nearest = np.abs(keeps.sum(0) / len(case.explanations) - 0.5).argmin()
    return flipped(case, rng, np.where(keeps[:, nearest], 0.7, 0.1))


def region_is_wrong(case: Explained, rng: np.random.Generator) -> Numbers:
    """The neighbourhoods of some nodes are of other classes than they are said to be."""
    source, target = case.data.edge_index.numpy()
    centres = rng.permutation(len(case.predicted))
    inside = np.zeros(len(case.predicted), dtype=bool)
    for centre in centres:
        if inside.mean() > 0.3:
            break
        inside[[centre, *source[target == centre]]] = True
    return flipped(case, rng, np.where(inside, 0.95, 0.05))


def large_are_wrong(case: Explained, rng: np.random.Generator) -> Numbers:
    """Of each class, answers whose sets keep more nodes than the median are wrong more often."""
    chances = np.zeros(len(case.predicted))
    for number in range(case.classes):
        sizes = {e.query.index: len(e.nodes) for e in case.explanations}
        own = [node for node in sizes if case.predicted[node] == number]
        if own:
            middle = np.median([sizes[node] for node in own])
            chances[own] = [0.7 if sizes[node] > middle else 0.1 for node in own]
    return flipped(case, rng, chances)


COINS: dict[str, Callable[[Explained, np.random.Generator], Numbers]] = {
    "even coins": even_coins,
    "loaded coins": loaded_coins,
    "answers wrong by coins": errors_by_coins,
    "true classes shuffled": shuffled,
}
PLANTED: dict[str, tuple[Callable[[Explained, np.random.Generator], Numbers], str]] = {
    "less probable answers are wrong": (unsure_are_wrong, "lower probabilities"),
    "answers from one feature are wrong": (feature_misleads, "Typical of wrong answers"),
    "neighbourhoods are of other classes": (region_is_wrong, "smaller share of nodes that"),
    "answers from many nodes are wrong": (large_are_wrong, "on more nodes"),
    "truth by even coins, confident answers": (even_coins, "probabilities promise"),
}


def by_chance() -> list[Row]:
    """Return how many audits of what is drawn by chance find something, and what they find."""
    models = list(explained_models())
    rows = [
        null(models, f"truth by {name}" if "coins" in name else name, OF_TRUTH, coins)
        for name, coins in COINS.items()
    ]
    rows.append(null(models, "sets drawn at random", OF_SETS, errors_by_coins, redraw=True))
    promised = null(models, "truth by the model's own probabilities", CONFIDENT, as_promised)
    return [*rows, promised, *(power(models, name) for name in PLANTED)]


def null(
    models: Sequence[Explained],
    name: str,
    kinds: set[str],
    coins: Callable[[Explained, np.random.Generator], Numbers],
    *,
    redraw: bool = False,
) -> Row:
    """Return how many audits show a finding of these kinds though there is none."""
    found: list[set[str]] = []
    for number, case in enumerate(models):
        for again in range(ROUNDS):
            rng = np.random.default_rng([number, again])
            truth, training = coins(case, rng), rng.random(len(case.predicted)) < 0.3
            sets = redrawn(case, rng) if redraw else None
            audited = case.audited(truth, training, sets)
            found.append(kinds & {finding.kind for finding in audited.findings})
    false = [one for one in found if one]
    each = {kind: sum(kind in one for one in false) for kind in sorted(kinds)}
    told = ", ".join(f"{kind} {count}" for kind, count in each.items() if count)
    measured = f"{len(false)} of {len(found)} ({len(false) / len(found):.1%})"
    return (
        f"{len(found)} audits, {name}: with a false finding",
        f"{measured}{': ' if told else ''}{told}",
        "5 %",
    )


def power(models: Sequence[Explained], name: str) -> Row:
    """Return in how many audits a planted effect is found."""
    planted, words = PLANTED[name]
    found = []
    for number, case in enumerate(models):
        for again in range(ROUNDS):
            rng = np.random.default_rng([number, again])
            truth, training = planted(case, rng), rng.random(len(case.predicted)) < 0.3
            texts = [finding.text for finding in case.audited(truth, training).findings]
            found.append(any(words in text for text in texts))
    return (
        f"{len(found)} audits, planted: {name}: found",
        f"{sum(found)} of {len(found)} ({sum(found) / len(found):.0%})",
        "–",
    )
