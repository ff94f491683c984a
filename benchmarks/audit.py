"""How long the audit of a data set takes, what its page weighs, and whether leaks are flagged.

    python benchmarks/audit.py [RUN] [--queries N] [--only audit,losses,compare,chance]

RUN holds explanations of all 2,708 nodes of Cora with the paper's GCN; it is made first if there is
none, which takes some minutes. The page is opened in Chromium by Playwright and looked at by axe.
Losses of single elements are timed, and their intervals compared with what 4,000 samples of another
seed give. On three citation graphs a GCN is trained, and again with another seed, and again with a
column that tells one class: only the last may be flagged by `zorro compare`. Truths, training nodes
and sets drawn by chance are audited, which must find nothing, and planted effects
(`audit_by_chance.py`); this part takes minutes and none of the others.
Writes results/audit.md.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from audit_by_chance import by_chance
from playwright.sync_api import sync_playwright
from timing.machine import describe
from toggle import CLI
from torch import Tensor
from torch_geometric.data import Data

from zorro import Explanation, Zorro
from zorro.audit import RunComparison, compare_runs
from zorro.audit.crossing import MeasuredOn
from zorro.cli import made_with
from zorro.data import load, paper_nodes
from zorro.explanation import losses, making
from zorro.models import TrainingSettings, build, checkpoint, train
from zorro.runs import Run, open_run
from zorro.show import audit_page
from zorro.show.page.run_inputs import run_inputs

RESULTS = Path(__file__).parent / "results"
AXE = Path(__file__).parents[1] / "tests" / "browser" / "vendor" / "axe.min.js"
OPENINGS = 7
TRUTH = 4000  # samples of another seed, on which losses are measured again
LOSSES_OF = 60  # queries whose losses are timed
COVERAGE_OF = 25  # queries whose losses are measured again
SETS = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}
LEAKING = 1  # the class that one column tells
FLAGGED = 0.2  # the limit of --fail-on changed-grounds
Row = tuple[str, str, str]  # what, measured, goal


def main() -> None:
    """Measure all, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, nargs="?", default=Path("build/cora-all"))
    parser.add_argument("--queries", type=int, default=60, help="Of each comparison.")
    parser.add_argument(
        "--only", default="audit,losses,compare,chance", help="Parts to measure anew."
    )
    asked = parser.parse_args()
    torch.set_num_threads(1)
    parts: dict[str, Callable[[], list[Row]]] = {
        "audit": lambda: audited(made(asked.run)),
        "losses": timed_losses,
        "compare": lambda: [row for name in SETS for row in compared(name, asked.queries)],
        "chance": by_chance,
    }
    kept = RESULTS / "audit.json"
    rows: dict[str, list[Row]] = json.loads(kept.read_text()) if kept.is_file() else {}
    for name in asked.only.split(","):
        rows[name] = parts[name]()
        kept.write_text(f"{json.dumps(rows, indent=1)}\n")
    told = describe()
    lines = [
        "# Audits and comparisons",
        "",
        "`python benchmarks/audit.py` (`make audit`); audits of what is drawn by chance and of "
        "planted effects alone: `python benchmarks/audit.py --only chance`. Seconds are of one "
        "core: those on the clock, and those that the processor spent, since others may be at work "
        "on the machine.",
        "",
        "| | measured | goal |",
        "| --- | ---: | ---: |",
        *(f"| {' | '.join(row)} |" for name in parts for row in rows.get(name, [])),
        "",
        f"{told['machine']}; {told['versions']}.",
    ]
    (RESULTS / "audit.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines), file=sys.stderr)


def made(folder: Path) -> Run:
    """Return a run of all nodes of Cora."""
    if not (folder / "manifest.json").is_file():
        subject = ["--dataset", "cora", "--model", "gcn", "--checkpoint", "paper"]
        command = [*CLI, "explain", *subject, "--nodes", "all", "--out", str(folder)]
        subprocess.run([*command, "--workers", "1"], check=True)
    return open_run(folder)


def audited(run: Run) -> list[Row]:
    """Return how long an audit and its page take, and how soon the page can be used."""
    found = made_with.loaded(run, {}, otherwise="nothing can be measured")
    assert found is not None
    names = made_with.names_in(run, found)
    inputs = run_inputs(**made_with.as_shown(run, found))
    inputs.asked_by(run)
    options = {**found.data.audited(), "model": found.model, "model_kwargs": found.model_kwargs}
    took: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "audit.html"
        with clocked(took, "audit"):
            audit = run.audit(**options, names=names)
        with clocked(took, "page"):
            size = audit_page.write(run, audit, page, inputs=inputs)
        usable, serious = opened(page)
    every = f"{audit.explanations:,} nodes of Cora, GCN"
    return [
        (f"audit of {every}", took["audit"], "10 s"),
        ("its page written", took["page"], "–"),
        ("its page", f"{size / 1e6:.2f} MB", "3 MB"),
        ("the page can be used (Chromium, median)", f"{1000 * usable:.0f} ms", "1,000 ms"),
        ("serious findings of axe, light and dark, 1,280 and 390 px", str(serious), "0"),
    ]


@contextmanager
def clocked(took: dict[str, str], name: str) -> Iterator[None]:
    """Note how long something takes, on the clock and of the processor."""
    began, spent = time.perf_counter(), time.process_time()
    yield
    seconds, own = time.perf_counter() - began, time.process_time() - spent
    took[name] = f"{seconds:.1f} s ({own:.1f} s of the processor)"


def opened(path: Path) -> tuple[float, int]:
    """Return the median seconds until a page can be used, and what axe finds that is serious."""
    with sync_playwright() as driver:
        browser: Any = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        times = []
        for _ in range(OPENINGS):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            began = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("main:not(.waiting) .rows tbody tr")
            times.append(time.perf_counter() - began)
            page.close()
        serious = 0
        for width, scheme in ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")):
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            page = context.new_page()
            page.goto(path.as_uri())
            page.wait_for_selector("main:not(.waiting) .rows tbody tr")
            page.evaluate(AXE.read_text())
            rules = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            serious += sum(
                rule["impact"] in ("serious", "critical") for rule in rules["violations"]
            )
            context.close()
        browser.close()
    return statistics.median(times), serious


def timed_losses() -> list[Row]:
    """Return how long losses take, and how often their intervals hold what others measure."""
    data = load("cora")
    model = build("gcn", data.num_features, int(data.y.max()) + 1)
    checkpoint.load(model, checkpoint.paper_checkpoint("cora", "gcn"))
    spent: list[float] = []
    timed = losses.losses_of

    def clock(*values: Any, **options: Any) -> Any:
        began = time.process_time()
        found = timed(*values, **options)
        spent.append(time.process_time() - began)
        return found

    making.losses_of = clock  # type: ignore[attr-defined]
    zorro = Zorro(model, data.x, data.edge_index)
    explained = [zorro.explain(node) for node in paper_nodes("cora")[:LOSSES_OF]]
    making.losses_of = timed  # type: ignore[attr-defined]
    other = Zorro(model, data.x, data.edge_index, seed=1)
    held = [hit for e in explained[:COVERAGE_OF] for hit in holding(e, other)]
    worst = statistics.quantiles(spent, n=20)[-1]
    return [
        (
            f"losses of all elements of a set, median of {len(spent)} (Cora, GCN)",
            f"{1000 * statistics.median(spent):.0f} ms of the processor",
            "50 ms",
        ),
        ("95 % of them below", f"{1000 * worst:.0f} ms", "–"),
        (
            f"their 95 % intervals that hold what {TRUTH:,} samples of another seed measure",
            f"{sum(held):,} of {len(held):,} ({sum(held) / len(held):.1%})",
            "95 %",
        ),
    ]


def holding(e: Explanation, other: Zorro) -> list[bool]:
    """Return of each element whether its interval holds the loss that others measure."""
    meter = other.meter(e.query.asked, samples=TRUTH)
    kept: dict[str, Any] = {"nodes": list(e.nodes), "features": list(e.features)}
    whole = meter.fidelity(**kept).value
    found = []
    for kind in kept:
        for loss in e.loss(kind):
            rest = [member for member in kept[kind] if member not in loss.members]
            lost = whole - meter.fidelity(**{**kept, kind: rest}).value
            found.append(loss.lower <= lost <= loss.upper)
    return found


def compared(name: str, count: int) -> list[Row]:
    """Return what another seed changes of a model's grounds, and what a leak does."""
    data = load(name)
    leaking = data.clone()
    leaking.x = data.x.clone()
    rarest = int((data.x != 0).sum(0).argmin())
    leaking.x[:, rarest] = (data.y == LEAKING).float()
    before = trained(data, 0)
    nodes = some_of(before(data.x, data.edge_index).argmax(1), count)
    mine = Zorro(before, data.x, data.edge_index)
    kept = [mine.explain(node) for node in nodes]
    rows = []
    for what, graph, seed in (("another seed", data, 1), ("a leak", leaking, 0)):
        theirs = Zorro(trained(graph, seed), graph.x, graph.edge_index)
        result = compare_runs(
            kept,
            [theirs.explain(node) for node in nodes],
            on_first=MeasuredOn(mine),
            on_second=MeasuredOn(theirs),
        )
        flags = "flagged" if what == "a leak" else "not flagged"
        rows.append((f"{SETS[name]}, {len(nodes)} queries, {what}", said(result), flags))
    return rows


def said(result: RunComparison) -> str:
    """Return what a comparison comes to."""
    share = result.changed_grounds
    assert share is not None
    moved = [str(one.answer) for one in result.moved]
    is_flagged = share.value > FLAGGED and bool(moved)
    is_clear = share.value <= FLAGGED and not moved
    verdict = "flagged" if is_flagged else "not flagged" if is_clear else "flagged in part"
    classes = f"class {' and '.join(moved)}" if moved else "no class"
    return (
        f"{verdict}: {share.count} of {share.total} rest on other grounds ({share.value:.0%}), "
        f"{classes} moved"
    )


def trained(data: Data, seed: int) -> torch.nn.Module:
    """Return a GCN trained as on the command line."""
    return train("gcn", data, TrainingSettings(weight_decay=0.0005, seed=seed))


def some_of(answers: Tensor, count: int) -> list[int]:
    """Return nodes at random, half of them said to be of the class that is leaked."""
    generator = torch.Generator().manual_seed(0)
    found: list[int] = []
    for some in (answers == LEAKING, answers != LEAKING):
        every = some.nonzero().flatten()
        found += every[torch.randperm(len(every), generator=generator)[: count // 2]].tolist()
    return found


if __name__ == "__main__":
    main()
