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
    target: options.Target = None,
    keep_nodes: Annotated[
        str,
        typer.Option(
            metavar="LIST|all|none",
            help="Nodes that keep their true values: 1,2; of several types author:1,2;paper:7.",
        ),
    ] = "all",
    keep_features: Annotated[
        str,
        typer.Option(
            metavar="LIST|all|none",
            help="Features that these nodes keep: 3,4; of several types paper:3,4.",
        ),
    ] = "all",
    keep_edges: Annotated[
        str | None,
        typer.Option(
            metavar="LIST|all|none",
            help="Edges that are kept, others being there by chance: 3-7,4-9; of several types "
            "author/writes/paper:3-7,4-9.",
            show_default="all edges stay",
        ),
    ] = None,
    keep_types: Annotated[
        str | None,
        typer.Option(
            metavar="LIST|none",
            help="Instead of nodes and features: types whose nodes keep theirs: author,paper.",
            show_default="nodes one by one",
        ),
    ] = None,
    keep_relations: Annotated[
        str | None,
        typer.Option(
            metavar="LIST|none",
            help="Instead of edges: relations that are kept, others being there by chance: "
            "author/writes/paper.",
            show_default="all edges stay",
        ),
    ] = None,
    edge_presence: options.EdgePresence = None,
    edge_noise: options.EdgeNoise = "presence",
    edge_effect: options.EdgeEffect = "structure",
    directed: options.Directed = None,
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
    """Measure the RDT-fidelity of given nodes and features, or edges.

    That is how often the model's prediction stays when all other values are noise.
    """
    import torch

    from zorro.cli import model_and_data
    from zorro.cli.asked import one_asked
    from zorro.cli.kept import kept_elements

    told, query = one_asked(node=node, link=link, graph=graph)
    kept = kept_elements(
        nodes=keep_nodes,
        features=keep_features,
        edges=keep_edges,
        types=keep_types,
        relations=keep_relations,
    )
    torch.set_num_threads(threads)
    asked = model_and_data.load(
        dataset=dataset,
        model=model,
        checkpoint=checkpoint,
        data_seed=data_seed,
        target=target,
        told=[told],
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
        "keep": kept.kinds,
        "edge_presence": edge_presence,
        "edge_noise": edge_noise,
        "edge_effect": edge_effect,
        "directed": directed,
    }
    zorro = asked.task(options).zorro()
    about = asked.data.given().about
    estimate = zorro.fidelity(query, **kept.asked(about), samples=samples)
    terminal.results.print(
        f"{about.kind:<9} {told.value}, {asked.description}\n"
        f"kept      {kept.told(noise, zorro.parameters.other_edges)}\n"
        f"fidelity  {estimate.value:.3f} [{estimate.lower:.3f}, {estimate.upper:.3f}]: the "
        f"prediction stayed in {estimate.hits} of {estimate.samples} samples "
        f"({estimate.confidence:.0%} interval)",
        markup=False,
    )
