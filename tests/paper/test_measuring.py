"""Measurements are made once, in a fair order, by any engine, and read back from where they are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.data import Data

from zorro.errors import RunError
from zorro.paper import Settings, jobs
from zorro.paper.cells import NodeCell
from zorro.paper.measuring import Part, measure
from zorro.runs.engines import Processes

NODES = (4, 2, 9)


@dataclass(frozen=True)
class Squares:
    """A job that squares node ids, and fails where it is told to."""

    name: str = "squares"
    cell: NodeCell = field(default_factory=lambda: NodeCell("made", "up"))
    nodes: tuple[int, ...] = NODES
    power: int = 2
    fails_at: int | None = None

    @property
    def parameters(self):
        return {"tau": None, "power": self.power}

    def open(self, place):
        def measured(node):
            if node == self.fails_at:
                raise ValueError("no")
            return {"node": node, "value": node**self.power + place.seed, "on": place.hardware}

        return measured


@pytest.fixture(autouse=True)
def _made_up_cell(monkeypatch):
    graph = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))
    from zorro.paper import measuring

    monkeypatch.setattr(measuring, "loaded", lambda cell, device="cpu": (nn.Identity(), graph))


def told(seen):
    return lambda what, outcome: seen.append((what.split(", ")[1], outcome.query.key))


def test_the_first_node_of_all_jobs_comes_before_the_second_of_any(tmp_path):
    seen: list[Any] = []
    two = [Squares(), Squares("cubes", power=3)]
    found = measure(two, Settings(runs=tmp_path, on_outcome=told(seen)))
    assert seen == [(name, node) for node in NODES for name in ("squares", "cubes")]
    assert [row["value"] for row in found.of(two[1])] == [64, 8, 729]
    assert "CPU: Python" in found.made_with[0]


def test_what_is_kept_is_not_measured_again_and_more_nodes_go_on(tmp_path):
    seen: list[Any] = []
    settings = Settings(runs=tmp_path, nodes=1, on_outcome=told(seen))
    assert len(measure([Squares()], settings).of(Squares())) == 1
    assert len(measure([Squares()], replace(settings, nodes=None)).of(Squares())) == 3
    assert seen == [("squares", node) for node in NODES]
    assert [row["node"] for row in measure([Squares()], settings).of(Squares())] == [4]
    assert len(seen) == 3


def test_other_parameters_are_refused(tmp_path):
    settings = Settings(runs=tmp_path)
    measure([Squares()], settings)
    with pytest.raises(RunError, match=r"parameters\.power: 2 there, 3 now"):
        measure([Squares(power=3)], settings)
    with pytest.raises(RunError, match=r"parameters\.seed"):
        measure([Squares()], replace(settings, seed=1))


def test_a_node_that_fails_is_left_out(tmp_path):
    job = Squares(fails_at=2)
    assert [row["node"] for row in measure([job], Settings(runs=tmp_path)).of(job)] == [4, 9]


def test_reporting_measures_nothing(tmp_path):
    settings = Settings(
        runs=tmp_path, measures=False, on_outcome=lambda *told: pytest.fail(str(told))
    )
    assert measure([Squares()], settings).of(Squares()) == []
    assert not list(tmp_path.iterdir())


def test_only_some_nodes(tmp_path):
    found = measure([Squares()], Settings(runs=tmp_path, nodes=1), only=(9, 5))
    assert [row["node"] for row in found.of(Squares())] == [9]


def test_rows_of_several_devices_are_put_together(tmp_path):
    measure([Squares()], Settings(runs=tmp_path, nodes=1))
    (tmp_path / "cpu").rename(tmp_path / "gpu")
    found = measure([Squares()], Settings(runs=tmp_path, nodes=2))
    (tmp_path / "gpu" / "made-up" / "squares" / "lock").unlink()
    assert [row["node"] for row in found.of(Squares())] == [4, 2]
    assert len(found.of(Squares(), device="gpu")) == 1
    assert len(found.of(Squares(), device="cpu")) == 2


def test_which_nodes():
    job = Squares()
    assert Part().of(job) == [4, 2, 9]
    assert Part(7, {"squares": 2}).of(job) == [4, 2]
    assert Part(1, {"squares": 2, "cubes": 0}).of(job) == [4]
    assert Part(1, only={9, 4}).of(job) == [4, 9]


def test_rows_beyond_the_part_that_is_asked_for_are_not_reported(tmp_path):
    settings = Settings(runs=tmp_path)
    assert len(measure([Squares()], settings).of(Squares())) == 3
    assert len(measure([Squares()], settings, counts={"squares": 1}).of(Squares())) == 1


def test_what_failed_is_tried_again(tmp_path):
    settings = Settings(runs=tmp_path)
    assert len(measure([Squares(fails_at=2)], settings).of(Squares())) == 2
    assert [row["node"] for row in measure([Squares()], settings).of(Squares())] == list(NODES)


def test_worker_processes_give_the_same(tmp_path):
    alone = measure([Squares()], Settings(runs=tmp_path / "a")).of(Squares())
    settings = Settings(runs=tmp_path / "b", engine=Processes(1))
    assert measure([Squares()], settings).of(Squares()) == alone


def test_the_variant_of_the_published_setting_uses_the_published_noise():
    variant = jobs.Variant("zorro .85", "zorro-paper", {"tau": 0.85})
    assert variant.noise == "column-marginals"
    assert variant.referring().noise == "published"
    job = jobs.MethodJob(NodeCell("made", "up"), variant.referring(), "cut", nodes=(1,))
    assert job.name == "zorro .85 reference cut"
