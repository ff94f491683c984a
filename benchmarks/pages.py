"""How long the report takes to write and to open, and the explorer to paint and to answer a click.

    python benchmarks/pages.py [RUN]

RUN holds explanations of the paper's 300 Cora nodes; it is made first if there is none. Pages are
opened in Debian's chromium by Playwright. Writes results/pages.md.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from timing.machine import describe
from toggle import CLI, Explorer

RESULTS = Path(__file__).parent / "results"
OPENINGS = 7
NODES = 20
CLICKS = 5
# Clicks, and waits until the words of the verdict are others and no measurement is under way.
CLICK = """async chip => {
  const panel = document.querySelector(".your-set"), words = panel.textContent;
  const started = performance.now();
  chip.click();
  while (panel.textContent === words || panel.classList.contains("measuring"))
    await new Promise(requestAnimationFrame);
  return performance.now() - started;
}"""


def made(folder: Path) -> Path:
    """Return a run of the paper's nodes on Cora."""
    if not (folder / "manifest.json").is_file():
        subject = ["--dataset", "cora", "--model", "gcn", "--checkpoint", "paper"]
        command = [*CLI, "explain", *subject, "--nodes", "paper", "--out", str(folder)]
        subprocess.run(command, check=True)
    return folder


def written(run: Path, path: Path) -> float:
    """Return the seconds of `zorro report`, the start of Python included."""
    started = time.perf_counter()
    subprocess.run([*CLI, "report", str(run), "--out", str(path)], check=True)
    return time.perf_counter() - started


def opened(browser: Browser, url: str, ready: str) -> tuple[float, float]:
    """Return the milliseconds until something is painted, and until the table can be used."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    started = time.perf_counter()
    page.goto(url)
    page.wait_for_selector(ready)
    usable = 1000 * (time.perf_counter() - started)
    paint = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint').map(e => e.startTime)[0]"
    )
    page.close()
    return float(paint), usable


def clicked(browser: Browser, address: str, nodes: list[int]) -> list[float]:
    """Return milliseconds from a click on a node's or feature's chip to the new fidelity."""
    page: Page = browser.new_page(viewport={"width": 1280, "height": 900})
    times: list[float] = []
    for node in nodes:
        page.goto(f"{address}#run=0&node={node}")
        page.wait_for_selector(f"h2:has-text('{node}')")
        page.wait_for_selector(".your-set:not(.measuring)")
        for place in range(CLICKS):
            chips = page.locator(".chips button[aria-pressed]")
            handle = chips.nth(place % chips.count()).element_handle()
            times.append(float(page.evaluate(CLICK, handle)))
    page.close()
    return times


def quantiles(name: str, values: list[float]) -> str:
    """Return a row of the table."""
    worst = statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
    return f"| {name} | {len(values)} | {statistics.median(values):.0f} | {worst:.0f} |"


def main() -> None:
    """Measure all, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, nargs="?", default=Path("build/cora-run"))
    run = made(parser.parse_args().run)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        report = Path(folder) / "report.html"
        seconds = written(run, report)
        browser: Any = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        pages = [opened(browser, report.as_uri(), ".rows tbody tr") for _ in range(OPENINGS)]
        explorer = Explorer(run)
        try:
            rows = explorer.ask("/api/runs/0/rows")["rows"]
            live = [opened(browser, explorer.address, ".rows tbody tr") for _ in range(OPENINGS)]
            nodes = [row["query"] for row in rows[:: max(1, len(rows) // NODES)]][:NODES]
            clicks = clicked(browser, explorer.address, nodes)
        finally:
            explorer.close()
        browser.close()
        size = report.stat().st_size / 1e6
    machine = describe()
    lines = [
        "# Pages",
        "",
        f"`python benchmarks/pages.py`: {len(rows)} explanations on Cora with the paper's GCN. The "
        f"report is {size:.2f} MB and was written in {seconds:.1f} s, the start of Python and the "
        "loading of the data included. Milliseconds in Chromium; a click is one on a node or a "
        "feature of the set, until the new fidelity is on the screen (200 samples, one thread).",
        "",
        "| | times | median | 95 % are below |",
        "| --- | ---: | ---: | ---: |",
        quantiles("report: first paint", [paint for paint, _ in pages]),
        quantiles("report: usable", [usable for _, usable in pages]),
        quantiles("explorer: first paint", [paint for paint, _ in live]),
        quantiles("explorer: usable", [usable for _, usable in live]),
        quantiles("explorer: click", clicks),
        "",
        "Goals: written in 20 s, under 5 MB, usable in 1,500 ms; the explorer's first paint in "
        "1,000 ms; a click 100 ms (median) and 300 ms.",
        "",
        f"{machine['machine']}; {machine['versions']}.",
    ]
    (RESULTS / "pages.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines), file=sys.stderr)


if __name__ == "__main__":
    main()
