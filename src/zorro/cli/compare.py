"""`zorro compare`: two models, or one before and after retraining, on the same queries."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zorro.cli import options, terminal

if TYPE_CHECKING:
    from zorro.audit.crossing import MeasuredOn
    from zorro.cli.model_and_data import ModelAndData
    from zorro.graph.names import Labels
    from zorro.runs import Run

FAILED_ON = 3  # the exit status where a condition of --fail-on holds


def compare(
    first: Annotated[
        Path, typer.Argument(metavar="RUN_A", help="The run before.", show_default=False)
    ],
    second: Annotated[
        Path, typer.Argument(metavar="RUN_B", help="The run after.", show_default=False)
    ],
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIGURE>LIMIT",
            help="Exit with status 3 if it is so: changed-predictions>.1, changed-grounds>.2, "
            "class-grounds>.5 (of the class where most changed), moved-classes>0, "
            "set-distance>.6. May be given several times.",
        ),
    ] = None,
    as_json: Annotated[
        str | None,
        typer.Option(
            "--json", metavar="FILE|-", help="Write it as JSON; - is stdout, without the text."
        ),
    ] = None,
    graph: options.WithGraph = True,
    samples: Annotated[
        int, typer.Option(min=1, help="On which each set is measured on the other model.")
    ] = 200,
    model: options.Model = None,
) -> None:
    """Compare two runs on the queries that both have.

    Which answers changed; and of those that did not, which rest on other grounds: neither
    model's set keeps the other model's answer (their cross-fidelities are shown to be below τ).
    Class by class, with the features that entered or left.
    """
    from zorro.audit import Condition
    from zorro.audit.crossing import same_columns
    from zorro.cli import compare_text, made_with, output_file
    from zorro.cli.progress import progress
    from zorro.runs import open_run
    from zorro.runs.comparing import compared, figures_of_comparisons

    conditions = [Condition.read(text, figures_of_comparisons()) for text in fail_on or ()]
    if as_json not in (None, "-"):
        output_file.check(Path(str(as_json)), force=True)
    runs = (open_run(first), open_run(second))
    found = [
        made_with.loaded(run, {"model": model}, otherwise="sets are compared, not measured")
        if graph
        else None
        for run in runs
    ]
    names = [made_with.names_in(run, one) for run, one in zip(runs, found, strict=True)]
    meters = _meters(runs, found, [one.features for one in names], samples)
    with progress("compared", min(map(len, runs)), transient=True) as report:
        result = compared(
            *runs,
            on_first=meters[0],
            on_second=meters[1],
            columns=same_columns(names[0].features, names[1].features),
            on_query=lambda done, total: report(done, ""),
        )
    if as_json == "-":
        sys.stdout.write(f"{result.to_json()}\n")
    else:
        compare_text.show(result, runs[0].about, names[1], console=terminal.results)
        if as_json is not None:
            output_file.write(Path(as_json), f"{result.to_json()}\n")
    figures = result.figures()
    failed = [condition for condition in conditions if condition.holds(figures)]
    for condition in failed:
        terminal.messages.print(
            f"{condition} holds: {condition.figure} is {figures[condition.figure]:.3g}",
            markup=False,
        )
    if failed:
        raise typer.Exit(FAILED_ON)


def _meters(
    runs: tuple[Run, Run],
    found: list[ModelAndData | None],
    features: list[Labels],
    samples: int,
) -> list[MeasuredOn | None]:
    """Return what measures sets on each of two models; None where a model is not at hand."""
    from zorro.audit.crossing import MeasuredOn, same_columns
    from zorro.runs.again import options_of, refuse_other_data, refuse_other_model

    meters: list[MeasuredOn | None] = []
    for at, (run, one) in enumerate(zip(runs, found, strict=True)):
        if one is None:
            meters.append(None)
            continue
        given = one.data.given()
        refuse_other_data(run, given, one.model_kwargs)
        refuse_other_model(run, one.model)
        asked: dict[str, Any] = options_of(run.manifest["parameters"])
        zorro = given.explainer(one.model, {**asked, "model_kwargs": one.model_kwargs})
        columns = same_columns(features[1 - at], features[at])
        meters.append(MeasuredOn(zorro, samples, columns))
    return meters
