"""PGM-Explainer: the nodes whose perturbation goes with a change of the prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor

from zorro.errors import InputError
from zorro.methods.masked_runs import scores_everywhere
from zorro.methods.masks import Masks
from zorro.methods.registry import method
from zorro.methods.subject import Subject
from zorro.model.predictor import probabilities

Perturbation = Callable[[Tensor, torch.Generator], Tensor]


def _random_bits(x: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randint(2, x.shape, generator=generator).to(x)


def _random_scaling(x: Tensor, generator: torch.Generator) -> Tensor:
    return x * (2 * torch.rand(x.shape, generator=generator)).to(x)


def _column_means(x: Tensor, generator: torch.Generator) -> Tensor:
    return x.mean(0).expand_as(x)


# What takes the place of a perturbed node's features.
PERTURBATIONS: dict[str, Perturbation] = {
    "bits": _random_bits,
    "mean": _column_means,
    "scaling": _random_scaling,
}

_STATES = 4  # of a node in one sample: perturbed or not × prediction lowered or not
_LARGEST = 8  # of a graph's samples one in so many counts as lowered


@method("pgm")
class PGM:
    """Selects the nodes on which the query depends statistically (Vu & Thai, NeurIPS 2020).

    In every sample each candidate is perturbed with probability ½. A node's state in a sample is
    a pair: whether it was perturbed, and whether the probability of the class that the model
    predicts for this node fell by more than `drop`. Selected are the nodes whose state depends on
    the query's by a χ² test, and the query itself.

    Defaults are those of the authors' code for explaining many nodes of a node classifier: 1,000
    samples (their function for a single node has 100), random zeros and ones for a perturbed
    node's features, a drop of .1, a significance of .05 and all dependent nodes, however many. As
    there, a test counts one degree of freedom less than its table has cells, 15 at most, which is
    stricter than the 9 of a test of independence. These defaults give node sets as large as those
    that Zorro's paper reports for PGM; 100 samples give far smaller ones.

    The authors go on to arrange the selected nodes in a Bayesian network, found by hill climbing
    on the nodes' Markov blanket. That network describes how the selected nodes act together; the
    node set, which is what methods are compared by, is fixed before, so it is not built here.
    Nodes are perturbed and looked at in the computational graph: the query's output is that on
    the whole graph, while the outermost nodes miss some of their own neighbours.

    The answer for a whole graph is explained as the authors' code for graphs does: nodes have no
    predictions of their own, so that a node's state is whether it was perturbed; the graph's is
    whether its predicted class lost as much probability as in the worst eighth of the samples; a
    perturbed node gets each feature's mean over the graph. Theirs then perturbs the best fifth of
    the nodes again and returns the best twentieth, which is none of a molecule's; here the
    dependent nodes are selected, as at nodes.

    >>> from torch_geometric.nn import SimpleConv
    >>> from zorro.data import karate_club
    >>> from zorro.explainers import PGM, Subjects
    >>> club = karate_club()
    >>> subject = Subjects(SimpleConv(), club.x, club.edge_index).of(12)  # its friends are 0 and 3
    >>> PGM().explain(subject).nodes  # 0, 3 and 12 itself
    tensor([1., 1., 1.])

    Args:
        samples: how many perturbed inputs are run.
        drop: what a class probability must lose for a node's prediction to count as lowered.
        significance: the largest p-value of a dependent node.
        top_nodes: select this many nodes of the smallest p-values instead of the dependent ones.
        perturbation: `"bits"`, `"scaling"` of each feature by a factor from 0 to 2, or `"mean"`;
            when None bits for the prediction at a node, the mean for that of a graph.
        memory: bytes that one run of the model may take; chosen when None.
    """

    def __init__(
        self,
        *,
        samples: int = 1000,
        drop: float = 0.1,
        significance: float = 0.05,
        top_nodes: int | None = None,
        perturbation: str | None = None,
        memory: int | None = None,
    ) -> None:
        if samples < 1:
            raise InputError(f"samples: expected at least 1, got {samples}")
        if top_nodes is not None and top_nodes < 1:
            raise InputError(f"top_nodes: expected at least 1 or None, got {top_nodes}")
        if perturbation is not None and perturbation not in PERTURBATIONS:
            expected = ", ".join(PERTURBATIONS)
            raise InputError(f"perturbation: expected one of {expected}, got {perturbation!r}")
        self._samples = samples
        self._drop = drop
        self._significance = significance
        self._top_nodes = top_nodes
        self._perturbation = perturbation
        self._memory = memory

    def explain(self, subject: Subject) -> Masks:
        """Return the nodes on which the prediction depends."""
        p_values = self.p_values(subject)  # (n,)
        if self._top_nodes is None:
            selected = p_values < self._significance
        else:
            selected = np.zeros(p_values.size, dtype=bool)
            selected[np.argsort(p_values, kind="stable")[: self._top_nodes]] = True
        return Masks(nodes=torch.from_numpy(selected).to(subject.graph.x))

    def p_values(self, subject: Subject) -> NDArray[np.float64]:
        """Return how likely each node's states (n,) are if the query does not depend on it."""
        perturbed, losses = self._samples_of(subject)  # (S, n), (S, r)
        target = subject.query_row
        if target is None:
            largest = np.argsort(losses[:, 0], kind="stable")[-max(1, len(losses) // _LARGEST) :]
            lowered = np.isin(np.arange(len(losses)), largest)  # (S,)
            return dependence(perturbed.astype(int), lowered.astype(int))
        states = 2 * perturbed + (losses > self._drop)  # (S, n)
        values = dependence(states, states[:, target])
        values[target] = 0.0
        return values

    def _samples_of(self, subject: Subject) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return which nodes each sample perturbs (S, n), and what that costs.

        The latter is the loss (S, r) of the predicted class's probability, for each candidate or
        for the one graph.
        """
        x = subject.graph.candidate_x
        usual = "mean" if subject.query_row is None else "bits"
        perturb = PERTURBATIONS[self._perturbation or usual]
        generator = subject.generator()
        perturbed: list[Tensor] = []

        def inputs() -> Iterator[Tensor]:
            yield x
            for _ in range(self._samples):
                rows = torch.randint(2, (x.size(0), 1), generator=generator).bool().to(x.device)
                perturbed.append(rows.flatten())
                yield torch.where(rows, perturb(x, generator), x)

        runs = scores_everywhere(subject, inputs(), memory=self._memory)
        true = probabilities(next(runs))  # (r, C)
        confidence, predicted = true.max(dim=1, keepdim=True)  # (r, 1)
        losses = [confidence - probabilities(scores).gather(1, predicted) for scores in runs]
        return (
            np.asarray(torch.stack(perturbed).cpu().numpy()),
            np.asarray(torch.cat(losses, dim=1).t().double().cpu().numpy()),
        )


def dependence(states: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the p-values (n,) of χ² tests of states (S, n) against a target's states (S,).

    The statistic is Σ (observed − expected)² / expected over the cells of the table of both
    states; p is its tail under χ² with one degree of freedom less than there are cells. A table
    of one row or column has p = 1.

    >>> fair = np.array([0, 0, 3, 3] * 10)
    >>> dependence(np.stack([fair, np.roll(fair, 1)], axis=1), fair) < 0.05
    array([ True, False])
    """
    one_hot = (states[:, :, None] == np.arange(_STATES)).astype(float)  # (S, n, 4)
    target_one_hot = (target[:, None] == np.arange(_STATES)).astype(float)  # (S, 4)
    observed = np.einsum("sni,sj->nij", one_hot, target_one_hot)
    rows = observed.sum(2)  # (n, 4)
    columns = observed.sum(1)  # (n, 4)
    expected = rows[:, :, None] * columns[:, None, :] / states.shape[0]  # (n, 4, 4)
    gap = (observed - expected) ** 2
    statistic = np.divide(gap, expected, out=np.zeros_like(gap), where=expected > 0).sum((1, 2))
    cells = (rows > 0).sum(1) * (columns > 0).sum(1)  # (n,)
    return np.asarray(stats.chi2.sf(statistic, np.maximum(cells - 1, 1)))
