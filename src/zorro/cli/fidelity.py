"""`zorro fidelity`: measure how well a given set explains a prediction."""

from __future__ import annotations

from typing import Annotated

import typer

from zorro.cli import options, terminal


def fidelity(
    node: Annotated[
        int | None,
        typer.Option(help="The node whose prediction is in question.", show_default=False),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(metavar="U-V", help="Or the link between two nodes.", show_default=False),
    ] = None,
    graph: Annotated[
        int | None,
        typer.Option(help="Or the graph, of a set of graphs.", show_default=False),
    ] = None,
    checkpoint: options.Checkpoint = None,
    dataset: options.Dataset = None,
    model: options.Model = None,
    keep_nodes: Annotated[
        str,
        typer.Option(metavar="LIST|all|none", help="Nodes that keep their true values: 1,2."),
    ] = "all",
    keep_features: Annotated[
        str,
        typer.Option(metavar="LIST|all|none", help="Features that these nodes keep: 3,4."),
    ] = "all",
    samples: Annotated[int, typer.Option(help="Noise samples.")] = 1000,
    feature_groups: options.FeatureGroups = None,
    noise: options.Noise = "column-marginals",
    # Another default than that of `explain`, whose search has seen the first samples of its seed.
    seed: Annotated[
        int,
        typer.Option(help="Seed of the noise. For a set from `zorro explain`, use another seed."),
    ] = 1,
    hops: options.Hops = None,
    threshold: options.Threshold = None,
    label: options.Label = None,
    tolerance: options.Tolerance = None,
    tolerance_share: options.ToleranceShare = None,
    side: options.Side = "both",
    output: options.Output = None,
    carries_messages: options.CarriesMessages = False,
    data_seed: options.DataSeed = None,
    threads: options.Threads = 1,
) -> None:
    """Measure the RDT-fidelity of given nodes and features.

    That is how often the model's prediction stays when all other values are noise.
    """
    import torch

    from zorro.cli import subject
    from zorro.cli.asked import one_asked

    told, query = one_asked(node=node, link=link, graph=graph)
    kept_nodes = _members("--keep-nodes", keep_nodes)
    kept_features = _members("--keep-features", keep_features)
    torch.set_num_threads(threads)
    asked = subject.load(
        dataset=dataset, model=model, checkpoint=checkpoint, data_seed=data_seed, told=[told]
    )
    options = {
        "noise": noise,
        "seed": seed,
        "hops": hops,
        "threshold": threshold,
        "label": label,
        "tolerance": tolerance,
        "tolerance_share": tolerance_share,
        "side": side,
        "output": output,
        "feature_groups": asked.feature_groups(feature_groups),
        "carries_messages": carries_messages,
    }
    zorro = asked.task(options).zorro()
    estimate = zorro.fidelity(query, nodes=kept_nodes, features=kept_features, samples=samples)
    terminal.results.print(
        f"{told.level:<9} {told.value}, {asked.description}\n"
        f"kept      nodes {keep_nodes} × features {keep_features}; {noise} noise elsewhere\n"
        f"fidelity  {estimate.value:.3f} [{estimate.lower:.3f}, {estimate.upper:.3f}]: the "
        f"prediction stayed in {estimate.hits} of {estimate.samples} samples "
        f"({estimate.confidence:.0%} interval)",
        markup=False,
    )


def _members(option: str, text: str) -> list[int] | None:
    if text == "all":
        return None
    if text == "none":
        return []
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"expected numbers such as 1,2, or all or none, got {text!r}", param_hint=option
        ) from None
