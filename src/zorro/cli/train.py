"""`zorro train`: train a model and keep it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zorro.cli import options, output_file, terminal
from zorro.cli.progress import progress
from zorro.errors import InputError

if TYPE_CHECKING:
    from torch.nn import Module

    from zorro.models import TrainingSettings

_PAPERS = "the paper's for the data set"


def train(
    dataset: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE.npz",
            help="A name that `zorro datasets` lists, or a file with arrays x, edge_index, y and "
            "train_mask, perhaps val_mask and test_mask, and edge_weight, edge_attr, edge_type.",
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME|MODULE:CLASS",
            help="gcn, gat, gin, appnp, gcn3, or your own class, called with the numbers of "
            "features and classes. The current folder is searched too.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE.safetensors",
            help="Where the weights go; how they came about goes into the .json beside it.",
        ),
    ],
    epochs: Annotated[
        int | None,
        typer.Option(
            help="Passes over the training nodes.",
            show_default=f"{_PAPERS}: 200, on ba-community 2000",
        ),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            help="Of the Adam optimiser.",
            show_default=f"{_PAPERS}: 0.01, on ba-community 0.001",
        ),
    ] = None,
    weight_decay: Annotated[
        float | None,
        typer.Option(help="Of the Adam optimiser.", show_default=f"{_PAPERS}: 0.005"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the first weights and the dropout.")] = 0,
    data_seed: Annotated[
        int,
        typer.Option(
            help="Seed of what is random about a data set: the graph of ba-community, the split "
            "of amazon-computers."
        ),
    ] = 0,
    threads: options.Threads = 1,
    force: options.Force = False,
) -> None:
    """Train a model on a data set's training nodes and save it."""
    import torch

    from zorro import data as datasets
    from zorro import models
    from zorro.cli.subject import announce, search_current_folder

    _check_output(out, force=force)
    torch.set_num_threads(threads)
    search_current_folder(model)
    data = datasets.load(dataset, seed=data_seed)
    settings = _settings(
        dataset, seed=seed, epochs=epochs, learning_rate=learning_rate, weight_decay=weight_decay
    )
    trained = _with_progress(
        settings.epochs,
        lambda report: models.train(model, data, settings, on_inputs=announce, on_epoch=report),
    )
    record = models.checkpoint.describe(trained, model, data, dataset=dataset, settings=settings)
    models.checkpoint.save(out, trained, {**record, "data_seed": data_seed})
    shares = [f"{part} {share:.3f}" for part, share in record["accuracy"].items()]
    terminal.results.print(f"accuracy  {', '.join(shares)}")
    terminal.results.print(f"saved     {out}, {_record_file(out).name}", markup=False)


def _check_output(out: Path, *, force: bool) -> None:
    from zorro.models.checkpoint import SUFFIX

    if out.suffix != SUFFIX:
        raise InputError(f"--out: expected a name that ends in {SUFFIX}, got {out}")
    for file in (out, _record_file(out)):
        output_file.check(file, force=force)


def _record_file(out: Path) -> Path:
    return out.with_suffix(".json")


def _settings(dataset: str, *, seed: int, **given: Any) -> TrainingSettings:
    """Return the paper's settings for the data set, with those replaced that were given."""
    from zorro.data.catalogue import is_name
    from zorro.models import TrainingSettings, paper_settings

    named = is_name(dataset)
    usual = paper_settings(dataset, seed=seed) if named else TrainingSettings(seed=seed)
    return replace(usual, **{name: value for name, value in given.items() if value is not None})


def _with_progress(epochs: int, run: Callable[[Callable[[int, float], None]], Module]) -> Module:
    done = 0
    with progress("epoch", epochs) as show:

        def report(epoch: int, loss: float) -> None:
            nonlocal done
            done = epoch
            show(epoch, f"loss {loss:.4f}")

        try:
            return run(report)
        except KeyboardInterrupt:
            interrupted = f"zorro: interrupted after {done} of {epochs} epochs: nothing was saved"
    terminal.messages.print(interrupted)
    raise typer.Exit(130)
