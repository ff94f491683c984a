"""`zorro train`: train a model and keep it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zorro.cli import options, output_file, terminal
from zorro.cli.progress import progress

if TYPE_CHECKING:
    from zorro.models import TrainingSettings

_PAPERS = "the paper's for the data set"


def train(
    dataset: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE.npz",
            help="A name that `zorro datasets` lists, or a file with arrays x, edge_index, y and "
            "train_mask, perhaps val_mask and test_mask.",
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME|PACKAGE.MODULE:CLASS",
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
    """Train a model on a data set's training nodes and save it.

    \b
    Example:
      zorro train --dataset ba-community --model gcn3 --out gcn3.safetensors
    """
    import torch

    from zorro import data as datasets
    from zorro.cli.subject import search_current_folder
    from zorro.models import checkpoint
    from zorro.models import train as fit

    record_file = checkpoint.record_path(out)
    for file in (out, record_file):
        output_file.check(file, force=force)
    torch.set_num_threads(threads)
    search_current_folder(model)
    data = datasets.load(dataset, seed=data_seed)
    settings = _settings(dataset, seed, epochs, learning_rate, weight_decay)
    done = 0
    try:
        with progress("epoch", settings.epochs) as report:

            def on_epoch(epoch: int, loss: float) -> None:
                nonlocal done
                done = epoch
                report(epoch, f"loss {loss:.4f}")

            trained = fit(model, data, settings, on_epoch=on_epoch)
    except KeyboardInterrupt:
        terminal.messages.print(
            f"zorro: interrupted after {done} of {settings.epochs} epochs; nothing was saved"
        )
        raise typer.Exit(130) from None
    record = checkpoint.describe(trained, model, data, dataset=dataset, settings=settings)
    checkpoint.save(out, trained, {**record, "data_seed": data_seed})
    for part, share in record["accuracy"].items():
        ...
