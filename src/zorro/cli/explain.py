"""`zorro explain`: explain a model's predictions for some nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zorro.cli import options, results_file, table, terminal
from zorro.cli.progress import progress

if TYPE_CHECKING:
    from torch import Tensor

    from zorro.explainer import Zorro
    from zorro.explanation import Explanation


def explain(
    nodes: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="Which nodes: numbers (12,57), random:20 (of the test nodes), test, all, or paper "
            "(those of the paper).",
        ),
    ],
    checkpoint: options.Checkpoint = None,
    dataset: options.Dataset = None,
    model: options.Model = None,
    tau: Annotated[
        float, typer.Option(help="The fidelity to exceed, above 0 and at most 1.")
    ] = 0.85,
    search: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How to search: guided (smaller sets, certified), or paper, the paper's greedy "
            "search.",
        ),
    ] = "guided",
    delta: Annotated[
        float | None,
        typer.Option(
            help="The probability with which a certified fidelity may be below tau after all."
        ),
    ] = 0.05,
    certify: Annotated[
        bool,
        typer.Option(help="Prove the fidelity on unseen noise, or stop on the search's own."),
    ] = True,
    why_not: Annotated[
        int | None,
        typer.Option(
            metavar="CLASS", help="Explain why the prediction is its class and not this one."
        ),
    ] = None,
    contrast: Annotated[
        str,
        typer.Option(
            metavar="beats|not",
            help="What --why-not means: the predicted class beats the other, or the other is not "
            "predicted.",
        ),
    ] = "beats",
    k: Annotated[
        str,
        typer.Option(
            metavar="N|all",
            help="Elements each step tries: of both kinds together (guided) or of each (paper).",
        ),
    ] = "10",
    max_seconds: Annotated[
        float | None, typer.Option(help="Time for one node's search, for the guided one.")
    ] = None,
    max_elements: Annotated[
        int | None, typer.Option(help="Most nodes and features together, for the guided search.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Noise samples that the search sees.")] = 100,
    fresh_samples: Annotated[
        int,
        typer.Option(help="Further samples, unseen by the search, that measure the fidelity."),
    ] = 1000,
    noise: options.Noise = "column-marginals",
    seed: Annotated[int, typer.Option(help="Seed of the noise and of random:N.")] = 0,
    hops: options.Hops = None,
    data_seed: options.DataSeed = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-",
            help="Write the explanations as JSON lines, each as soon as it is finished; - is "
            "stdout, and the table goes to stderr.",
        ),
    ] = None,
    threads: options.Threads = 1,
    force: options.Force = False,
) -> None:
    """Explain predictions: the nodes and features they rest on."""
    import torch

    from zorro.cli import subject
    from zorro.data import parse_nodes
    from zorro.explainer import Zorro

    tried = _whole_number_or_all(k)
    results_file.check(out, force=force)
    torch.set_num_threads(threads)
    asked = subject.load(dataset=dataset, model=model, checkpoint=checkpoint, data_seed=data_seed)
    queries = parse_nodes(nodes, asked.data, dataset=asked.dataset, seed=seed)
    choices: dict[str, Any] = {
        "search": search,
        "delta": delta if certify else None,
        "k": tried,
        "noise": noise,
        "hops": hops,
        "max_seconds": max_seconds,
        "max_elements": max_elements,
    }
    question: dict[str, Any] = {"why_not": why_not, "contrast": contrast}
    zorro = Zorro(
        asked.model,
        asked.data.x,
        asked.data.edge_index,
        tau=tau,
        samples=samples,
        fresh_samples=fresh_samples,
        seed=seed,
        **choices,
    )
    finished: list[Explanation] = []
    try:
        _run(zorro, queries, question, out, finished)
    except KeyboardInterrupt:
        terminal.messages.print("zorro: interrupted")
        raise typer.Exit(130) from None
    finally:
        table.show(
            finished,
            _truth(asked.data.y, finished),
            description=asked.description,
            console=terminal.messages if out == results_file.STDOUT else terminal.results,
        )
        if finished:
            _say_what_is_kept(len(finished), len(queries), out)


def _run(
    zorro: Zorro,
    queries: Sequence[int],
    question: dict[str, Any],
    out: str | None,
    finished: list[Explanation],
) -> None:
    """Explain `queries` one after the other, each written and in `finished` before the next."""
    with (
        results_file.writer(out) as write,
        progress("explained", len(queries), transient=True) as report,
    ):
        for node in queries:
            explanation = zorro.explain(node, **question)
            write(explanation)
            finished.append(explanation)
            size = f"{len(explanation.nodes)} nodes × {len(explanation.features)} features"
            report(len(finished), f"node {node}: {size}")


def _truth(labels: Tensor | None, explanations: Sequence[Explanation]) -> dict[int, int] | None:
    """Return the labels of the nodes that were explained."""
    return None if labels is None else {e.node: int(labels[e.node]) for e in explanations}


def _say_what_is_kept(finished: int, asked: int, out: str | None) -> None:
    place = {None: "", results_file.STDOUT: ", written to stdout"}.get(out, f", written to {out}")
    if out is not None or finished < asked:
        terminal.messages.print(f"{finished} of {asked} nodes explained{place}.", markup=False)


def _whole_number_or_all(value: str) -> int | None:
    if value == "all":
        return None
    try:
        return int(value)
    except ValueError:
        raise typer.BadParameter(
            f"expected a whole number or all, got {value!r}", param_hint="--k"
        ) from None
