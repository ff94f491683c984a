"""What the user's options name: a data set, and a model trained on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import nn

from zorro import data as datasets
from zorro import models
from zorro.arguments import check_device
from zorro.cli import naming
from zorro.cli.announcement import announce
from zorro.cli.feature_groups import chosen_groups
from zorro.cli.graph_data import GraphData
from zorro.cli.levels import Told, agreed
from zorro.cli.link_data import LinkData
from zorro.cli.node_data import NodeData
from zorro.cli.type_data import TypeData
from zorro.errors import CheckpointError, InputError
from zorro.models import checkpoint as checkpoints
from zorro.question import Level, Query
from zorro.runs.digests import model_digest
from zorro.runs.task import LoadedTask

LevelData = NodeData | LinkData | GraphData | TypeData  # which have the same methods

# By a name, a seed, and the record of a model's training.
_LOADED: dict[Level, Callable[[str, int, Mapping[str, Any]], LevelData]] = {
    "node": lambda name, seed, record: NodeData.load(name, seed=seed),
    "link": lambda name, seed, record: LinkData.load(name, seed=seed, record=record),
    "graph": lambda name, seed, record: GraphData.load(name, seed=seed),
}


@dataclass(frozen=True)
class ModelAndData:
    """A trained model and the data it is asked about.

    Args:
        model: in eval mode.
        data: one graph or several, with all that depends on which it is.
        description: of all of it, for people.
        model_kwargs: what the data have for their edges and the model takes, as `Zorro`,
            `Zorro.of_links` or `Zorro.of_graphs` takes it.
    """

    model: nn.Module
    data: LevelData
    description: str
    model_kwargs: Mapping[str, Any] = field(default_factory=dict)

    def task(
        self, options: Mapping[str, Any], question: Mapping[str, Any] | None = None
    ) -> LoadedTask:
        """Return what is asked of every query.

        Args:
            options: of `Zorro`; those that are None are left out.
            question: options of `Zorro.explain`.
        """
        asked = {**self.data.options(options), "model_kwargs": self.model_kwargs}
        return LoadedTask(self.model, self.data.given(), asked, question or {})

    def question(self, queries: Sequence[Query], **said: Any) -> dict[str, Any]:
        """Return what is asked of every query, of options as the user writes them."""
        return self.data.given().question(self.data.question(said), queries)

    def feature_groups(
        self, text: str | None
    ) -> list[list[int]] | dict[str, list[list[int]]] | None:
        """Return the groups of columns that `--feature-groups` means, None if it is not given."""
        if isinstance(self.data, TypeData):
            return self.data.feature_groups(text)
        features = self.data.features if text is not None else None
        return chosen_groups(text, columns=self.data.num_features, features=features)

    @property
    def digests(self) -> tuple[str, str]:
        """Digests of the data and of the model; of a stored graph the recorded one."""
        return self.data.digest(self.model_kwargs), model_digest(self.model)


def load(
    *,
    dataset: str | None,
    model: str | None,
    checkpoint: str | None,
    data_seed: int | None,
    target: str | None = None,
    device: str = "cpu",
    told: Sequence[Told] = (),
    announced: bool = True,
    trusted: Collection[str] = (),
) -> ModelAndData:
    """Return what the options name; a checkpoint's record fills in those that are None.

    Of what the data have for their edges, the model gets what it takes.

    Args:
        dataset: a name, an `.npz` or a stored graph's folder.
        model: a name, or MODULE:CLASS.
        checkpoint: a file, or `paper`.
        data_seed: of what is random about the data set.
        target: the type that is asked about, where there are several.
        device: of data and model.
        told: what else tells whether nodes, links or graphs are asked about.
        announced: say on stderr what the model gets besides features and edges.
        trusted: classes that are imported even if only a file names them.
    """
    check_device("--device", device)
    record = naming.record_of(checkpoint)
    name = naming.given(dataset, "--dataset", record.get("dataset"), checkpoint)
    if model is None and record.get("architecture") is not None:
        beside = Path(str(checkpoint)).with_suffix(".json")
        naming.refuse_code(record["architecture"], beside, trusted)
    architecture = naming.given(model, "--model", record.get("architecture"), checkpoint)
    level = agreed([*_told(name, checkpoint, record, given=dataset is not None), *told])
    seed = record.get("data_seed", 0) if data_seed is None else data_seed
    if datasets.is_hetero_dataset(name):
        data: LevelData = TypeData.load(name, target, record)
    elif target is not None:
        raise InputError(f"--target: expected a graph of several types, got {name}")
    else:
        data = _LOADED[level](name, seed, record)
    network = _network(architecture, data, checkpoint, record)
    network, data = network.to(device).eval(), data if device == "cpu" else data.to(device)
    inputs = data.inputs(network)
    if announced:
        announce(inputs, trained_with=record.get("edge_inputs"))
    description = f"{architecture} on {name}, {naming.source_of(checkpoint)}"
    if inputs.passed:
        description += f", with {', '.join(inputs.passed)}"
    return ModelAndData(network, data, description, data.model_kwargs(inputs))


def _told(
    dataset: str, checkpoint: str | None, record: Mapping[str, Any], *, given: bool
) -> list[Told]:
    """Return whether data set and checkpoint are about nodes, links or graphs.

    Args:
        dataset: its name.
        checkpoint: a file, or `paper`.
        record: beside the checkpoint.
        given: whether the data set is by an option, and not by the record.
    """
    option = "--dataset" if given else "the checkpoint's data set"
    if datasets.is_graph_dataset(dataset):
        told = [Told(option, dataset, "graph")]
    elif datasets.is_hetero_dataset(dataset):
        told = [Told(option, dataset, "node")]
    else:
        told = [Told(option, dataset, "node", also=("link",))]
    if record or checkpoint == naming.PAPER:
        level = naming.level_in(record)
        told.append(Told("--checkpoint", str(checkpoint), level, "a model of {}"))
    return told


def _network(
    model: str, data: LevelData, checkpoint: str | None, record: Mapping[str, Any]
) -> nn.Module:
    """Return the model with its weights."""
    naming.search_current_folder(model)
    classes = _classes(data, record)
    if isinstance(data, TypeData):
        network = models.build_hetero(model, data.graph, data.target, classes)
    else:
        network = models.build(
            model,
            data.num_features,
            classes,
            level=data.level,
            **naming.built_with(record, model),
        )
    if checkpoint is not None:
        path = naming.weights_of(checkpoint, dataset=data.name, model=model)
        checkpoints.load(network, path)
    elif ":" not in model:
        raise InputError(
            f"--checkpoint: expected trained weights for {model}, got none: make some with "
            "`zorro train`, or use --checkpoint paper"
        )
    return network


def _classes(data: LevelData, record: Mapping[str, Any]) -> int:
    if "out_channels" not in record:
        return data.out_channels
    classes = record["out_channels"]
    if not isinstance(classes, int):
        raise CheckpointError(f"out_channels: expected an int in the record, got {classes!r}")
    return classes
