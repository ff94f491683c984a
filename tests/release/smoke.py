"""What must work with a wheel and an extra; run by `try_wheel.py` in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from torch_geometric.nn import GCN

import zorro
from zorro import Explanation, Zorro, ZorroError, explain_many, open_run

COMMAND = Path(sys.executable).parent / "zorro"


def model_and_graph() -> tuple[torch.nn.Module, torch.Tensor, torch.Tensor]:
    """A ring of twelve nodes, and a model that looks at one feature of three neighbours."""
    torch.manual_seed(0)
    ring = torch.arange(12)
    edge_index = torch.cat(
        [torch.stack([ring, ring.roll(1)]), torch.stack([ring.roll(1), ring])], 1
    )
    model = GCN(3, 8, num_layers=1, out_channels=2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.convs[0].lin.weight[0, 0], model.convs[0].lin.weight[1, 0] = 5.0, -5.0
    return model, torch.randn(12, 3), edge_index


def explained() -> Explanation:
    """Explain one prediction, whose answer is known: it is about feature 0 and no other."""
    found = Zorro(*model_and_graph()).explain(3)
    assert found.certified, found
    assert found.features == (0,), found
    return found


def library() -> Explanation:
    """The library alone, from JSON and back."""
    found = explained()
    assert Explanation.from_json(found.to_json()) == found
    return found


def core() -> None:
    """The library without extras, and a command that says what it needs."""
    assert "site-packages" in zorro.__file__, zorro.__file__
    found = library()
    told = subprocess.run([COMMAND, "doctor"], capture_output=True, text=True)
    assert told.returncode == 1, told
    assert "pip install 'zorro-gnn[cli]'" in told.stderr, told.stderr
    assert "zorro-gnn[plot]" in refusal_of_a_figure(found)


def refusal_of_a_figure(found: Explanation) -> str:
    """Return what is said where there is no matplotlib."""
    from zorro import plot as figures

    _, _, edge_index = model_and_graph()
    try:
        figures.explanation(found, edge_index)
    except ZorroError as error:
        return str(error)
    raise AssertionError("a figure was drawn")


def cli() -> None:
    """The command: all of the demo, and the page that it writes."""
    subprocess.run([COMMAND, "doctor"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        [COMMAND, "demo", "--epochs", "20", "--out", "shown"], check=True, capture_output=True
    )
    assert Path("shown/report.html").stat().st_size > 100_000


def plot() -> None:
    """A figure."""
    from zorro import plot as figures

    _, _, edge_index = model_and_graph()
    figures.explanation(explained(), edge_index).savefig("explanation.svg")
    assert "<svg" in Path("explanation.svg").read_text()


def runs() -> None:
    """A run as a data frame and as Parquet."""
    run = explain_many(*model_and_graph(), [1, 3], out="kept", engine="in-process")
    assert len(run.frame()) == 2
    subprocess.run([COMMAND, "runs", "export", "kept", "--parquet", "kept.parquet"], check=True)
    assert len(open_run("kept")) == 2


def web() -> None:
    """The explorer's pages are in the wheel, and it answers."""
    server = subprocess.Popen(
        [COMMAND, "serve", "shown/run", "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr is not None
        assert any("Serving at http://" in line for line in server.stderr)
    finally:
        server.terminate()
        server.communicate()


if __name__ == "__main__":
    {"core": core, "cli": cli, "plot": plot, "runs": runs, "web": web}[sys.argv[1]]()
