"""One claim's set counted again, for the answer that the run was asked about."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from zorro.audit.crossing import MeasuredOn
from zorro.cut import ComputationalGraph
from zorro.evaluation import FidelityEstimate
from zorro.explanation import Explanation
from zorro.explanation.parts import PredictedValue
from zorro.question.agreement import unseen
from zorro.question.decision import StaysAhead, Versus
from zorro.question.event import (
    Beats,
    Event,
    IsAmongTheFirst,
    PredictsOtherThan,
    StaysBetween,
)
from zorro.runs.again import Kept, options_of, question_of
from zorro.runs.given import GivenData

_CLOSE = 1e-6  # a share of a spread of outputs may differ by as much on another machine


@dataclass(frozen=True)
class Counted:
    """What was counted of an explanation's set on other noise.

    Args:
        fidelity: of the set.
        chance: of the empty set, where the claim goes beyond that.
        other_answer: what the explanation says of the answer that neither the model nor the run's
            question does; empty if nothing.
    """

    fidelity: FidelityEstimate
    chance: FidelityEstimate | None = None
    other_answer: str = ""


def recounting(
    run: Kept,
    data: GivenData,
    model: nn.Module,
    *,
    model_kwargs: Mapping[str, Any],
    seed: int,
    samples: int,
) -> Callable[[Explanation], Counted]:
    """Return what counts the hits of a run's explanations again, asked as the manifest says.

    Args:
        run: that holds them.
        data: that it was made with.
        model: likewise.
        model_kwargs: further arguments of the model.
        seed: of the noise, another than the run's.
        samples: on which each is counted.
    """
    parameters = run.manifest["parameters"]
    asked = {**options_of(parameters), "seed": seed, "model_kwargs": model_kwargs}
    measured_on = MeasuredOn(data.explainer(model, asked), samples, None, question_of(parameters))
    return lambda e: _recount(e, measured_on, parameters.get("label"))


def _recount(explanation: Explanation, measured_on: MeasuredOn, label: int | None) -> Counted:
    """Count how often the set of an explanation keeps the answer that its run was asked about."""
    meter = measured_on.meter(explanation)
    fidelity = measured_on.fidelity(explanation, meter)
    evaluator = meter.evaluator
    chance = None
    if explanation.chance is not None:
        chance = FidelityEstimate(int(evaluator.hits(evaluator.nothing).sum()), evaluator.samples)
    differences = _differences(explanation, meter.graph, evaluator.event, label)
    return Counted(fidelity, chance, "; ".join(differences))


def _differences(
    e: Explanation, graph: ComputationalGraph, event: Event, label: int | None
) -> Iterator[str]:
    """Yield in which parts an explanation is about another answer than is counted."""
    is_class = not isinstance(event, StaysBetween | IsAmongTheFirst)
    for name, expected, got in (
        ("query", graph.asked, e.query),
        ("label", label, e.label),
        ("predicted_class", graph.predicted_class if is_class else None, e.predicted_class),
        ("versus", _versus(event), e.versus),
        ("ahead", StaysAhead(event.k) if isinstance(event, IsAmongTheFirst) else None, e.ahead),
    ):
        if got != expected:
            yield f"{name}: expected {expected}, got {got}"
    band = event if isinstance(event, StaysBetween) else None
    if not _is_same_value(e.value, band, graph):
        expected_band = band and f"{band.value:.6g} from {band.low:+.3g} to {band.high:+.3g}"
        yield f"value: expected {expected_band}, got {e.value}"


def _versus(event: Event) -> Versus | None:
    """Return against which class an event is, if it is."""
    if isinstance(event, Beats):
        return Versus(event.b, "beats")
    return Versus(event.b, "not") if isinstance(event, PredictsOtherThan) else None


def _is_same_value(
    said: PredictedValue | None, band: StaysBetween | None, graph: ComputationalGraph
) -> bool:
    """Whether an explanation tells the value and the band that are counted, up to rounding."""
    if said is None or band is None:
        return said is None and band is None
    low = -math.inf if said.side == "down" else -said.tolerance
    high = math.inf if said.side == "up" else said.tolerance
    return (
        abs(said.value - band.value) <= unseen(graph.scores[0])
        and math.isclose(low, band.low, rel_tol=_CLOSE)
        and math.isclose(high, band.high, rel_tol=_CLOSE)
    )
