"""The memory that an evaluation takes by default."""

import torch

from zorro.model import memory


def test_a_quarter_of_what_the_kernel_calls_available(monkeypatch):
    text = "MemTotal: 9 kB\nMemFree: 100 kB\nMemAvailable:   4000 kB\n"
    monkeypatch.setattr(memory.Path, "read_text", lambda _: text)
    assert memory.default_budget(torch.device("cpu")) == 1000 * 1024


def test_free_pages_where_there_is_no_such_file(monkeypatch):
    monkeypatch.setattr(memory.Path, "read_text", lambda _: "")
    monkeypatch.setattr(memory.os, "sysconf", {"SC_AVPHYS_PAGES": 8, "SC_PAGE_SIZE": 4096}.get)
    assert memory.default_budget(torch.device("cpu")) == 2 * 4096


def test_more_than_is_faster_is_not_taken_on_a_cpu():
    assert memory.worth_taking(5 << 30, torch.device("cpu")) == 1 << 30
    assert memory.worth_taking(1 << 20, torch.device("cpu")) == 1 << 20
    assert memory.worth_taking(5 << 30, torch.device("cuda")) == 5 << 30
