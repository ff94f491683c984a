"""`zorro train`: train a model and keep it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zorro.cli import options, output_file, terminal
from zorro.cli.progress import progress
from zorro.errors import InputError

if TYPE_CHECKING:
    from torch.nn import Module
    from torch_geometric.data import Data, HeteroData

    from zorro.data import GraphDataset
    from zorro.models import (
        GraphTrainingSettings,
        HeteroTrainingSettings,
        LinkSplit,
        LinkTrainingSettings,
        TrainingSettings,
    )

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
            help="gcn, gat, gin, appnp, gcn3, of graphs gine too, of links gcn, of several types "
            "hgt and hetero-sage, or your own class, called with the numbers of features and "
            "classes; of several types with the graph, the target and the number of classes. The "
            "current folder is searched too.",
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
            help="Passes over the training nodes or graphs.",
            show_default=f"{_PAPERS}: 200, on ba-community 2000; what suits other sets",
        ),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            help="Of the Adam optimiser.",
            show_default=f"{_PAPERS}: 0.01, on ba-community 0.001; what suits other sets",
        ),
    ] = None,
    weight_decay: Annotated[
        float | None,
        typer.Option(help="Of the Adam optimiser.", show_default=f"{_PAPERS}: 0.005; of graphs 0"),
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            metavar="add|max|mean",
            help="How the nodes' states become their graph's, on a set of graphs.",
            show_default="add",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help="The type of nodes whose classes are learnt, in a graph of several types.",
            show_default="the only one that has classes",
        ),
    ] = None,
    links: Annotated[
        bool,
        typer.Option(
            "--links",
            help="Train a model that tells links from pairs of nodes that are none. Your own class "
            "is called with the number of features and 64, in how many numbers to encode a node.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the first weights and the dropout.")] = 0,
    data_seed: Annotated[
        int,
        typer.Option(
            help="Seed of what is random about a data set: graphs that are generated, the split "
            "of amazon-computers, of sets of graphs and of links."
        ),
    ] = 0,
    threads: options.Threads = 1,
    force: options.Force = False,
) -> None:
    """Train a model on a data set's training nodes, graphs or links and save it."""
    import torch

    from zorro import data as datasets
    from zorro import models
    from zorro.cli.naming import search_current_folder

    _check_output(out, force=force)
    torch.set_num_threads(threads)
    search_current_folder(model)
    given = {"epochs": epochs, "learning_rate": learning_rate, "weight_decay": weight_decay}
    graph_level = datasets.is_graph_dataset(dataset)
    if pooling is not None and (links or not graph_level):
        raise InputError(f"--pooling: expected a set of graphs to use it on, got {dataset}")
    several_types = datasets.is_hetero_dataset(dataset)
    if target is not None and not several_types:
        raise InputError(f"--target: expected a graph of several types, got {dataset}")
    if several_types:
        if links:
            raise InputError(f"--links: expected a graph of one type of nodes, got {dataset}")
        of_types = datasets.load_hetero(dataset)
        of_type = replace(models.HeteroTrainingSettings(seed=seed), **_said(given))
        trained, record = _train_on_a_type(model, of_types, target, of_type, dataset=dataset)
    elif links:
        if graph_level:
            raise InputError(f"--links: expected a graph with nodes to link, got {dataset}")
        data = datasets.load(dataset, seed=data_seed)
        split = models.split_links(data, seed=data_seed)
        of_links = replace(models.LinkTrainingSettings(seed=seed), **_said(given))
        trained, record = _train_on_links(model, split, of_links, dataset=dataset)
    elif graph_level:
        graphs = datasets.load_graphs(dataset, seed=data_seed)
        settings = _graph_settings(dataset, seed=seed, **given)
        trained, record = _train_on_graphs(model, graphs, settings, _options(model, pooling))
    else:
        node_settings = _settings(dataset, seed=seed, **given)
        data = datasets.load(dataset, seed=data_seed)
        trained, record = _train_on_nodes(model, data, node_settings, dataset=dataset)
    models.checkpoint.save(out, trained, {**record, "data_seed": data_seed})
    for measure, values in _measures(record).items():
        parts = ", ".join(f"{part} {value:.3f}" for part, value in values.items())
        terminal.results.print(f"{measure:<9} {parts}")
    terminal.results.print(f"saved     {out}, {_record_file(out).name}", markup=False)


def _train_on_nodes(
    model: str, data: Data, settings: TrainingSettings, *, dataset: str
) -> tuple[Module, dict[str, Any]]:
    """Return a model trained on a graph's nodes, and the record of it."""
    from zorro import models
    from zorro.cli.announcement import announce

    trained = _with_progress(
        settings.epochs,
        lambda report: models.train(model, data, settings, on_inputs=announce, on_epoch=report),
    )
    return trained, models.checkpoint.describe(
        trained, model, data, dataset=dataset, settings=settings
    )


def _train_on_graphs(
    model: str, graphs: GraphDataset, settings: GraphTrainingSettings, built: dict[str, str]
) -> tuple[Module, dict[str, Any]]:
    """Return a model trained on a set of graphs, and the record of it."""
    from zorro import models
    from zorro.cli.announcement import announce

    trained = _with_progress(
        settings.epochs,
        lambda report: models.train_graphs(
            model, graphs, settings, options=built, on_inputs=announce, on_epoch=report
        ),
    )
    return trained, models.checkpoint.describe_graphs(
        trained, model, graphs, settings=settings, options=built
    )


def _train_on_links(
    model: str, split: LinkSplit, settings: LinkTrainingSettings, *, dataset: str
) -> tuple[Module, dict[str, Any]]:
    """Return a model trained on a graph's links, and the record of it."""
    from zorro import models
    from zorro.cli.announcement import announce

    trained = _with_progress(
        settings.epochs,
        lambda report: models.train_links(
            model, split, settings, on_inputs=announce, on_epoch=report
        ),
    )
    return trained, models.checkpoint.describe_links(
        trained, model, split, dataset=dataset, settings=settings
    )


def _train_on_a_type(
    model: str,
    data: HeteroData,
    target: str | None,
    settings: HeteroTrainingSettings,
    *,
    dataset: str,
) -> tuple[Module, dict[str, Any]]:
    """Return a model trained on one type's nodes, and the record of it."""
    from zorro import models
    from zorro.data.hetero_catalogue import chosen_target

    target = chosen_target(data, target, option="--target")
    trained = _with_progress(
        settings.epochs,
        lambda report: models.train_hetero(model, data, target, settings, on_epoch=report),
    )
    return trained, models.checkpoint.describe_hetero(
        trained, model, data, target, dataset=dataset, settings=settings
    )


def _measures(record: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return how well a model does, by measure and part of the data."""
    errors = record.get("errors")
    if errors is None:
        return {name: record[name] for name in ("accuracy", "auc") if name in record}
    return {
        title: {part: found[name] for part, found in errors.items()}
        for name, title in (("rmse", "RMSE"), ("r2", "R²"))
    }


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
    return replace(usual, **_said(given))


def _graph_settings(dataset: str, *, seed: int, **given: Any) -> GraphTrainingSettings:
    """Return the settings that suit a set of graphs, with those replaced that were given."""
    from zorro.models.graph_training import usual_settings

    return replace(usual_settings(dataset, seed=seed), **_said(given))


def _said(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _options(model: str, pooling: str | None) -> dict[str, str]:
    """Return what a model of graphs is built with; your own class gets only what was given."""
    if pooling is None and ":" in model:
        return {}
    return {"pooling": pooling or "add"}


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
