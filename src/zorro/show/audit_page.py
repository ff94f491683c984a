"""An audit as one HTML file that opens anywhere, with the cases behind each sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from zorro.audit import Audit, ClassProfile, Use
from zorro.explanation import Explanation
from zorro.runs import Run
from zorro.show.page import contents, payload
from zorro.show.page.address import Address, address_of
from zorro.show.page.html import AUDIT_SCRIPTS, inlined, saved
from zorro.show.page.run_inputs import RunInputs
from zorro.show.page.view import View

Plain = dict[str, Any]

_MOST_DRAWN = 400_000  # bytes of drawings; the cases that are named first come first
_MOST_SUSPICIOUS = 200
_DIGITS = 7
_MOST_GROUPS = 40
_LEFT_OUT: Plain = {"steps": [], "losses": None, "alternatives": []}


def write(run: Run, audited: Audit, path: str | Path, *, inputs: RunInputs | None = None) -> int:
    """Write the page of a run's audit and return its size in bytes.

    Args:
        run: that was audited.
        audited: what came of it.
        path: of the HTML file, which appears whole or not at all.
        inputs: what the run was made with, by which the cases that are named are drawn.
    """
    view = (inputs or RunInputs(names=run.known.names)).asked_by(run).view(run)
    data = of_audit(run, audited, view)
    title = f"Audit of {data['summary']['subject']} – zorro"
    page = inlined(
        "audit.html",
        title=title,
        data=data,
        scripts=AUDIT_SCRIPTS,
        styles=("style.css", "audit.css"),
    )
    return saved(path, page)


def of_audit(run: Run, audited: Audit, view: View) -> Plain:
    """Return everything that the page of an audit shows."""
    held = contents.read(run)
    by_key = {e.query.key: e for e in held.explanations}
    told = _Told(run, by_key)
    details = {
        str(address_of(e.query)): {**payload.detail(e, view, drawn=False), **_LEFT_OUT}
        for e in held.explanations
    }
    _draw(details, told.cited(audited), view)
    shown: Plain = {
        "classes": [told.profile(profile) for profile in audited.classes],
        "findings": [
            {
                "kind": finding.kind,
                "gravity": finding.gravity,
                "text": finding.text,
                "cases": told.addresses(finding.keys),
            }
            for finding in audited.findings
        ],
        "contrasts": [
            {
                "quantity": one.quantity,
                **{side: _finite(vars(getattr(one, side))) for side in ("right", "wrong")},
                "larger": one.larger,
                "q": one.q_value,
                "differs": one.differs,
            }
            for one in audited.contrasts
        ],
        "densities": {side: vars(density) for side, density in audited.densities.items()},
        "suspicious": [
            {"query": told.address(one.key), "reasons": list(one.reasons)}
            for one in audited.suspicious[:_MOST_SUSPICIOUS]
        ],
        "suspiciousCount": len(audited.suspicious),
        "cells": [
            {
                "truth": cell.truth,
                "predicted": cell.predicted,
                "cases": told.addresses(cell.keys),
            }
            for cell in audited.cells
        ],
        "groups": [
            {
                "class": group.answer,
                "features": [list(pair) for pair in group.features],
                "cases": told.addresses(group.keys),
                "representative": told.address(group.representative),
            }
            for group in audited.groups[:_MOST_GROUPS]
        ],
        "groupCount": len(audited.groups),
        "right": None if audited.right is None else _share(audited.right),
        "confidence": audited.confidence,
        "hasGraph": audited.has_graph,
    }
    named = {
        kind: {use["what"] for one in shown["classes"] for use in one[kind]}
        for kind in ("nodes", "features")
    }
    return {
        "summary": payload.summary(run, held, view),
        "rows": _apart([payload.row(e, view) for e in held.explanations]),
        **_packed(details),
        "failures": payload.failures(held),
        "unreadable": payload.unreadable(held, run.about),
        "labels": payload.labels(view, details.values(), further=named),
        "audit": shown,
    }


class _Told:
    """Parts of an audit as the front end reads them.

    Args:
        run: that was audited.
        by_key: its explanations.
    """

    def __init__(self, run: Run, by_key: Mapping[int, Explanation]) -> None:
        self._about = run.about
        self._by_key = by_key

    def address(self, key: int) -> Address:
        """Return the address of the query of a key."""
        return address_of(self._about.of_key(key))

    def addresses(self, keys: Iterable[int]) -> list[Address]:
        """Return the addresses of several."""
        return [self.address(key) for key in keys]

    def profile(self, profile: ClassProfile) -> Plain:
        """Return what a class rests on."""
        keeping: dict[str, Callable[[Use], list[Address]]] = {
            "features": lambda use: self._keeping(profile, "features", use),
            "nodes": lambda use: self._keeping(profile, "nodes", use),
            "kinds": lambda use: [],
        }
        return {
            "class": profile.answer,
            "count": len(profile.keys),
            "right": None if profile.right is None else _share(profile.right),
            "sizes": profile.sizes,
            **{
                kind: [{**_use(use), "cases": cases(use)} for use in getattr(profile, kind)]
                for kind, cases in keeping.items()
            },
        }

    def _keeping(self, profile: ClassProfile, kind: str, use: Use) -> list[Address]:
        """Return the cases of a class whose sets keep something."""
        some = (self._by_key[key] for key in profile.keys if key in self._by_key)
        return [address_of(e.query) for e in some if use.what in e.selected.get(kind, ())]

    def cited(self, audited: Audit) -> Iterable[Explanation]:
        """Yield the explanations that the page names, those first that it names first."""
        keys = dict.fromkeys(
            [
                *(key for finding in audited.findings for key in finding.keys[:3]),
                *(group.representative for group in audited.groups),
                *(one.key for one in audited.suspicious),
            ]
        )
        return (self._by_key[key] for key in keys if key in self._by_key)


def _draw(details: dict[str, Plain], cited: Iterable[Explanation], view: View) -> None:
    """Draw cases one after the other, until the page would become too large."""
    left = _MOST_DRAWN
    for e in cited:
        full = payload.detail(e, view)
        left -= sum(len(json.dumps(full[name])) for name in ("scene", "values", "losses"))
        if left < 0:
            return
        own = {name: full[name] for name in ("scene", "values", "losses")}
        details[str(address_of(e.query))] |= own


def _packed(details: Mapping[str, Plain]) -> Plain:
    """Return details with what many of them say told once, and pieces of sentences by numbers."""
    pieces: dict[tuple[str, int], int] = {}
    for one in details.values():
        one["sentence"] = [
            pieces.setdefault((text, stressed), len(pieces)) for text, stressed in one["sentence"]
        ]
    return {
        "pieces": [list(piece) for piece in pieces],
        "details": {**_apart(list(details.values())), "queries": list(details)},
    }


def _apart(values: list[Plain]) -> Plain:
    """Return values with what all of them have in common told once."""
    values = _short(values)
    first = values[0]
    common = {
        name: value for name, value in first.items() if all(one[name] == value for one in values)
    }
    own = [{name: it for name, it in one.items() if name not in common} for one in values]
    return {"common": common, "own": own}


def _short(value: Any) -> Any:
    """Return plain data with numbers of as many digits as a page of thousands can hold."""
    if isinstance(value, dict):
        return {name: _short(it) for name, it in value.items()}
    if isinstance(value, list):
        return [_short(it) for it in value]
    return round(value, _DIGITS) if isinstance(value, float) else value


def _use(use: Use) -> Plain:
    return {
        "what": use.what,
        "share": _share(use.share),
        "expected": use.expected,
        "lift": use.lift,
        "q": use.q_value,
        "elsewhere": None if use.elsewhere is None else use.elsewhere.value,
        "present": use.present,
    }


def _share(share: Any) -> Plain:
    return {
        "count": share.count,
        "total": share.total,
        "value": share.value,
        "lower": share.lower,
        "upper": share.upper,
    }


def _finite(values: Mapping[str, float]) -> Plain:
    return {name: value if math.isfinite(value) else None for name, value in values.items()}
