"""The claims of a run, counted again and shown."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator

from zorro.cli import terminal
from zorro.cli.model_and_data import ModelAndData
from zorro.cli.progress import progress
from zorro.errors import InputError
from zorro.runs import Run
from zorro.runs.claims import ERROR, POWER, CheckedClaim, CheckedClaims, check_claims
from zorro.runs.recount import recounting

_MOST_LISTED = 50
_LEAST_SHOWN = 1e-12  # of a p-value
_SEEDS = 1 << 31


def other_seed(run: Run) -> int:
    """Draw a seed that is not the run's: nobody can choose sets that do well on its noise."""
    own = run.manifest["parameters"]["seed"]
    while (seed := secrets.randbelow(_SEEDS)) == own:
        pass
    return seed


def count_again(run: Run, made: ModelAndData, *, seed: int, samples: int) -> CheckedClaims:
    """Count the claims of a run on noise of another seed.

    Args:
        run: whose claims they are.
        made: with what it was made.
        seed: of the noise.
        samples: on which each claim is counted.
    """
    parameters = run.manifest["parameters"]
    if seed == parameters["seed"]:
        raise InputError(f"--seed: expected another than the run's own, got {seed}")
    count = recounting(
        run,
        made.data.given(),
        made.model,
        model_kwargs=made.model_kwargs,
        seed=seed,
        samples=samples,
    )
    every = list(run.explanations())
    with progress("counted", len(every), transient=True) as report:
        return check_claims(
            every,
            count,
            tau=parameters["tau"],
            delta=parameters["delta"],
            on_query=lambda done, total: report(done, ""),
        )


def show(checked: CheckedClaims, run: Run, *, seed: int, samples: int) -> None:
    """Print what came of counting, and each claim that does not hold.

    Args:
        checked: of the run.
        run: whose claims they are.
        seed: of the noise.
        samples: on which each claim was counted.
    """
    for line in _lines(checked, run, seed=seed, samples=samples):
        terminal.results.print(line, markup=False)


def _lines(checked: CheckedClaims, run: Run, *, seed: int, samples: int) -> Iterator[str]:
    made = checked.made
    if not made:
        yield "claims    none"
        return
    beyond = " of what chance leaves open" if run.manifest["parameters"]["beyond_chance"] else ""
    wrong = "" if checked.delta is None else f", wrong with probability {checked.delta:g} at most"
    yield f"claims    {made:,}, each of a fidelity of at least {checked.tau:g}{beyond}{wrong}"
    counts = checked.counts
    said = [
        f"{counts.get('shown again', 0):,} shown again",
        f"{counts.get('not refuted', 0):,} too close to tell",
        f"{counts.get('refuted', 0):,} refuted",
    ]
    if other := counts.get("other answer"):
        said.append(f"{other:,} about other answers")
    yield f"counted   on {samples:,} samples each, of seed {seed}: {', '.join(said)}"
    noticed = math.floor(1000 * (checked.noticed or 0.0)) / 1000  # never more than it is
    yield (
        f"power     with probability {POWER:g} a false one is noticed if its fidelity is "
        f"{noticed:.3f} or less"
    )
    suspects = checked.suspects
    for claim in suspects[:_MOST_LISTED]:
        yield _line(claim, run)
    if len(suspects) > _MOST_LISTED:
        yield f"          and {len(suspects) - _MOST_LISTED:,} more"
    if checked.p_value <= ERROR:
        yield (
            f"broken    {run.path}: an honest run looks so bad with probability "
            f"{_at_most(checked.p_value)}"
        )
    elif checked.is_broken:
        yield f"broken    {run.path}: it holds claims about other answers"
    elif suspects:
        yield (
            f"allowed   an honest run looks so bad with probability {_at_most(checked.p_value)}; "
            f"{ERROR:g} or less would be too little"
        )


def _line(claim: CheckedClaim, run: Run) -> str:
    """Return what was claimed and recorded of a query, and what was counted."""
    assert claim.counted is not None
    assert claim.certificate is not None
    query = run.about.of_key(claim.key)
    if claim.verdict == "other answer":
        return f"other     {query}: {claim.counted.other_answer}"
    word = "refuted " if claim.verdict == "refuted" else "doubtful"
    recorded, counted = claim.certificate, claim.counted.fidelity
    parts = [
        f"at least {claim.claimed:.3g} claimed",
        f"{recorded.hits / recorded.samples:.3f} recorded ({recorded.hits:,} of "
        f"{recorded.samples:,})",
        f"{counted.value:.3f} counted",
    ]
    if claim.chance is not None and claim.counted.chance is not None:
        parts.append(
            f"by chance {claim.chance.value:.3f} recorded, {claim.counted.chance.value:.3f} counted"
        )
    return f"{word}  {query}: {', '.join(parts)}; p {_at_most(claim.p_value)}"


def _at_most(p_value: float) -> str:
    return f"< {_LEAST_SHOWN:g}" if p_value < _LEAST_SHOWN else f"{p_value:.2g}"
