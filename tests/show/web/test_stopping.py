"""A thread's computations can be ended, and no other's."""

import threading

import pytest
import torch

from zorro import Zorro
from zorro.show.web.stopping import Stoppable, Stopped


class Countdown:
    def __init__(self, most):
        self.left = most

    def __call__(self):
        self.left -= 1
        if self.left < 0:
            raise Stopped


def test_it_stops_between_two_operations():
    done = []

    def work():
        for number in range(100):
            torch.zeros(1).add(1)
            done.append(number)

    with pytest.raises(Stopped), Stoppable(Countdown(10)):
        work()
    assert 0 < len(done) <= 10


def test_other_threads_go_on():
    result = []
    with Stoppable(Countdown(0)):
        thread = threading.Thread(target=lambda: result.append(torch.ones(3).sum().item()))
        thread.start()
        thread.join()
    assert result == [3.0]


def test_what_is_not_stopped_is_found_all_the_same(graph, model):
    zorro = Zorro(model, graph["x"], graph["edge_index"], fresh_samples=100)
    alone = zorro.explain(9)
    with Stoppable(lambda: None):
        again = Zorro(model, graph["x"], graph["edge_index"], fresh_samples=100).explain(9)
    assert {**alone.to_dict(), "seconds": 0} == {**again.to_dict(), "seconds": 0}
    assert alone.evaluator == "traced"


def test_a_stopped_explainer_can_be_used_again(graph, model):
    zorro = Zorro(model, graph["x"], graph["edge_index"], fresh_samples=100)
    expected = {**zorro.explain(9).to_dict(), "seconds": 0}
    for most in (1, 20, 300, 1000):
        with pytest.raises(Stopped), Stoppable(Countdown(most)):
            zorro.explain(9)
        assert torch.is_grad_enabled()
        assert {**zorro.explain(9).to_dict(), "seconds": 0} == expected


@pytest.mark.parametrize("most", range(12))
def test_the_threads_state_is_restored_wherever_it_stops(most):
    def work():
        for _ in range(10):
            with torch.no_grad():
                torch.zeros(1).add(1)

    with pytest.raises(Stopped), Stoppable(Countdown(most)):
        work()
    assert torch.is_grad_enabled()
