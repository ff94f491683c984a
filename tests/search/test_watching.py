"""Watching a search changes nothing, tells all of it, and can end it."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1]))
from made_runs import ring
from served_runs import Sluggish

from zorro import Zorro
from zorro.errors import InputError
from zorro.explanation import Explanation


def same(one: Explanation, other: Explanation) -> bool:
    """Whether two explanations differ in nothing but the time they took."""
    timeless = [{**e.to_dict(), "seconds": 0} for e in (one, other)]
    return timeless[0] == timeless[1]


@pytest.fixture
def zorro(request):
    graph = ring()
    options = getattr(request, "param", {})
    return Zorro(Sluggish(), graph["x"], graph["edge_index"], **options)


@pytest.mark.parametrize("zorro", [{}, {"delta": None}, {"search": "paper"}], indirect=True)
def test_what_is_watched_is_found_all_the_same(zorro):
    seen: list[Any] = []
    watched = zorro.explain(9, on_step=seen.append)
    assert same(watched, zorro.explain(9))
    assert [progress.step for progress in seen] == list(range(len(watched.steps)))
    assert [progress.fidelity for progress in seen] == [step.fidelity for step in watched.steps]
    last = seen[-1]
    assert (last.nodes, last.features) == (len(watched.nodes), len(watched.features))


@pytest.mark.parametrize("zorro", [{}, {"search": "paper"}], indirect=True)
def test_what_the_watcher_raises_ends_the_search(zorro):
    seen = []

    def enough(progress):
        seen.append(progress)
        if progress.step == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        zorro.explain(9, on_step=enough)
    assert len(seen) == 3
    assert same(zorro.explain(9), zorro.explain(9))


def test_another_question_leaves_the_first_one_as_it_was(zorro):
    graph = ring()
    other = zorro.with_settings(tau=0.6, max_seconds=3600.0)
    fresh = Zorro(Sluggish(), graph["x"], graph["edge_index"], tau=0.6, max_seconds=3600.0)
    assert same(other.explain(9), fresh.explain(9))
    assert zorro.parameters.tau == 0.85
    assert zorro.parameters.max_seconds is None
    assert zorro.with_settings().parameters == zorro.parameters


@pytest.mark.parametrize("changes", [{"tau": 0.0}, {"tau": 1.0}, {"max_seconds": 0.0}])
def test_another_question_is_checked_too(zorro, changes):
    with pytest.raises(InputError, match=next(iter(changes))):
        zorro.with_settings(**changes)


def test_a_meter_measures_what_fidelity_does(zorro):
    meter = zorro.meter(9, samples=150)
    for nodes, features in (([7, 8], [0, 2]), ([], []), (None, [1]), ([7], None), ([7, 8], [0, 2])):
        own = zorro.fidelity(9, nodes=nodes, features=features, samples=150)
        assert meter.fidelity(nodes=nodes, features=features) == own


@pytest.mark.parametrize("members", [[40], [-1], [0.5]])
def test_a_meter_refuses_what_is_not_there(zorro, members):
    with pytest.raises(InputError, match="nodes"):
        zorro.meter(7).fidelity(nodes=members)
