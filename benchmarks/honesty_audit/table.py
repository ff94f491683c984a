"""The audit as a page: one row per model, then every false claim and every refusal in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from statistics import mean, median

from honesty_audit.audit import Answer, claims_in
from honesty_audit.verdict import CHANCE

HEADER = [
    "| model | queries | candidates | statuses | claims | false | reported | measured | "
    "evaluator | seconds, median |",
    "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | --- | ---: |",
]


def page(every: Sequence[Answer], command: str, sections: Mapping[str, Collection[str]]) -> str:
    """Return the page.

    Args:
        every: answers of the audit.
        command: that made it.
        sections: names of models, by what stands above their rows.
    """
    claims = claims_in(every)
    by_model: dict[str, list[Answer]] = {}
    for answer in every:
        by_model.setdefault(answer.model, []).append(answer)
    verdicts = Counter(answer.verdict(claims).split(":")[0] for answer in every)
    false = [answer for answer in every if answer.verdict(claims) == "FALSE"]
    unanswered = [answer for answer in every if answer.message]
    counted = [answer.samples for answer in every if answer.samples]
    samples, most = min(counted, default=0), max(counted, default=0)
    more = f", {most} where these leave doubt" if most > samples else ""
    lines = [
        "# Are the claims true?",
        "",
        f"`{command}` (`make honesty`): {len(by_model)} models, {len(every)} queries. Each set is "
        f"measured by a plain loop on {samples} inputs{more}: all entries of the feature matrix "
        "but the set's are redrawn from their columns (groups of columns together), and the model "
        "runs on the whole graph, or on the one graph that is asked about. Where edges are "
        "selectable, each that is not in the set is taken out, with all that belongs to it, unless "
        "a die says that it stays. A claim is "
        "called false if the count is improbable under it: a proved bound by the binomial "
        "distribution, a reported fidelity by Fisher's exact test against its fresh samples, "
        f"p < {CHANCE:g} / {claims} claims.",
        "",
        "Verdicts: " + ", ".join(f"{name} {count}" for name, count in verdicts.most_common()) + ".",
        "`holds`: proved and not refuted. `no claim`: nothing proved, and the reported fidelity "
        "agrees. `conditional`: said to leave further nodes as they are, so not about the whole "
        "graph.",
        "",
        *(
            line
            for title, names in sections.items()
            for line in _section(
                title,
                [_row(model, rows, claims) for model, rows in by_model.items() if model in names],
            )
        ),
        "## False claims",
        "",
        *([_false(answer) for answer in false] or ["None."]),
        "",
        "## Not answered",
        "",
        *(
            [f"- {a.model}, query {a.query}, {a.status}: {_flat(a.message)}" for a in unanswered]
            or ["None."]
        ),
    ]
    return "\n".join(lines) + "\n"


def _section(title: str, rows: Sequence[str]) -> list[str]:
    """Return the lines of a section, none where it has no rows."""
    return [f"## {title}", "", *HEADER, *rows, ""] if rows else []


def _row(model: str, rows: Sequence[Answer], claims: int) -> str:
    answered = [row for row in rows if not row.message]
    claimed = [row for row in rows if row.is_claim]
    statuses = Counter(row.status for row in rows)
    cells = [
        model,
        f"{len(rows)}",
        ", ".join(f"{row.candidates}" for row in answered) or "–",
        ", ".join(f"{name} {count}" for name, count in statuses.items()),
        f"{claims_in(rows)}",
        f"{sum(row.verdict(claims) == 'FALSE' for row in rows)}",
        _mean([row.claim.hits / row.claim.samples for row in claimed if row.claim.samples]),
        _mean([row.hits / row.samples for row in claimed]),
        ", ".join(sorted({row.evaluator for row in answered})) or "–",
        f"{median(row.seconds for row in rows):.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def _false(answer: Answer) -> str:
    claim = answer.claim
    proved = "" if claim.bound is None else f"at least {claim.bound:.3f} proved, "
    return (
        f"- {answer.model}, query {answer.query}, {answer.status}, {answer.elements[0]} nodes × "
        f"{answer.elements[1]} features, {answer.edges} edges: {proved}"
        f"{claim.hits} of {claim.samples} reported, "
        f"{answer.hits} of {answer.samples} measured"
    )


def _mean(shares: Sequence[float]) -> str:
    return f"{mean(shares):.3f}" if shares else "–"


def _flat(message: str) -> str:
    """Return a message on one line."""
    return " ".join(message.split())
