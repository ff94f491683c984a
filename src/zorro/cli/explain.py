"""`zorro explain`: explain a model's predictions for some nodes, some links or some graphs."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from zorro.cli import options


def explain(
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Which nodes: numbers (12,57), random:20 (of the test nodes), test, all, or paper "
            "(those of the paper).",
        ),
    ] = None,
    links: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Which links between nodes: pairs (3-7,12-5), random:20 (of the test pairs, of "
            "which half are links) or test. Messages go along the links that are not for testing.",
        ),
    ] = None,
    graphs: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Which graphs of a set of graphs: numbers (5,9), random:20 (of the test graphs), "
            "test or all.",
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Any of them: node:12,node:57, link:3-7, graph:5, graph:random:20, graph:test.",
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            metavar="node|link|graph",
            help="What is explained.",
            show_default="what data set, checkpoint and queries say",
        ),
    ] = None,
    checkpoint: options.Checkpoint = None,
    dataset: options.Dataset = None,
    model: options.Model = None,
    target: options.Target = None,
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
    beyond_chance: Annotated[
        bool,
        typer.Option(
            "--beyond-chance",
            help="Ask for tau of what random inputs leave open, where they get the answer anyway.",
        ),
    ] = False,
    why_not: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS|U-W",
            help="Explain why the prediction is its class and not this one; of a link U-V, why it "
            "scores higher than another from the same node.",
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
    among: Annotated[
        str | None,
        typer.Option(
            metavar="NODES",
            help="Of links U-V: explain why V stays ahead of these as an end (9,12,15), or",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(metavar="N", help="why it stays among the first N of them.", show_default="1"),
    ] = None,
    carries_messages: options.CarriesMessages = False,
    k: Annotated[
        str,
        typer.Option(
            metavar="N|all",
            help="Elements each step tries: of both kinds together (guided) or of each (paper).",
        ),
    ] = "10",
    max_seconds: Annotated[
        float | None, typer.Option(help="Time for one search, for the guided one.")
    ] = None,
    max_elements: Annotated[
        int | None, typer.Option(help="Most nodes and features together, for the guided search.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Noise samples that the search sees.")] = 100,
    fresh_samples: Annotated[
        int | None,
        typer.Option(
            help="Held-out samples, which neither search nor certificate has seen, that measure "
            "the fidelity; without it up to 200 beside a certificate, or 1,000 where there is none."
        ),
    ] = None,
    keep: Annotated[
        str,
        typer.Option(
            metavar="KIND,…",
            help="What a set may be of: nodes, features, edges, edge_attributes; of several types "
            "also types, relations. What is not named stays as it is.",
        ),
    ] = "nodes,features",
    feature_groups: options.FeatureGroups = None,
    edge_presence: options.EdgePresence = None,
    edge_noise: options.EdgeNoise = "presence",
    edge_effect: options.EdgeEffect = "structure",
    connected: Annotated[
        bool, typer.Option("--connected", help="Ask for edges that are joined to the query.")
    ] = False,
    directed: options.Directed = None,
    noise: options.Noise = "column-marginals",
    seed: Annotated[int, typer.Option(help="Seed of the noise and of random:N.")] = 0,
    hops: options.Hops = None,
    threshold: options.Threshold = None,
    label: options.Label = None,
    tolerance: options.Tolerance = None,
    tolerance_share: options.ToleranceShare = None,
    side: options.Side = "both",
    output: options.Output = None,
    data_seed: options.DataSeed = None,
    class_names: options.ClassNames = None,
    feature_names: options.FeatureNames = None,
    node_names: options.NodeNames = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER|-",
            help="Keep the explanations: a run's folder, in which the same command goes on with "
            "what is missing; - writes JSON lines to stdout as they are finished, and the table "
            "goes to stderr.",
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Where to compute: in-process, processes, ray, or auto: processes for more than "
            "a few queries. What is found does not depend on it.",
        ),
    ] = "auto",
    workers: Annotated[
        int | None,
        typer.Option(help="Worker processes, or actors of Ray.", show_default="one per core"),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            help="Of the Ray cluster, for the engine ray; data set and checkpoint must be found "
            "under the same names on all its machines.",
            show_default="a cluster of this machine alone",
        ),
    ] = None,
    gpus_per_worker: Annotated[
        float,
        typer.Option(help="GPUs that each actor of Ray gets, with --device cuda; 0.25 is a part."),
    ] = 0.0,
    device: Annotated[
        str, typer.Option(metavar="cpu|cuda", help="Where data and model are held.")
    ] = "cpu",
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Explain again what failed in this run.")
    ] = False,
    json_progress: Annotated[
        bool,
        typer.Option(
            "--json-progress", help="A line of JSON on stderr per query, once it is kept."
        ),
    ] = False,
    threads: options.Threads = 1,
) -> None:
    """Explain predictions: the nodes, features or edges they rest on."""
    import torch

    from zorro.cli import explaining, model_and_data, naming
    from zorro.cli.asked import asked
    from zorro.cli.given_names import chosen_names
    from zorro.cli.named_task import NamedTask
    from zorro.runs import Known
    from zorro.runs.engines import engine_of

    tried = _whole_number_or_all(k)
    wanted = asked(nodes=nodes, links=links, graphs=graphs, queries=queries, level=level)
    explaining.check_out(out, retry_failed=retry_failed)
    torch.set_num_threads(threads)
    named: dict[str, Any] = {
        "dataset": dataset,
        "model": model,
        "checkpoint": checkpoint,
        "data_seed": data_seed,
        "target": target,
        "device": device,
    }
    on = model_and_data.load(**named, told=wanted.told)
    names = chosen_names(
        on,
        {"class_names": class_names, "feature_names": feature_names, "node_names": node_names},
    )
    every = on.data.queries(wanted.spec, seed=seed)
    choices: dict[str, Any] = {
        "tau": tau,
        "search": search,
        "delta": delta if certify else None,
        "k": tried,
        "samples": samples,
        "fresh_samples": fresh_samples,
        "noise": noise,
        "seed": seed,
        "hops": hops,
        "threshold": threshold,
        "label": label,
        "tolerance": tolerance,
        "tolerance_share": tolerance_share,
        "side": side,
        "output": output,
        "max_seconds": max_seconds,
        "beyond_chance": beyond_chance,
        "max_elements": max_elements,
        "keep": tuple(kind.strip() for kind in keep.split(",")) if keep else (),
        "feature_groups": on.feature_groups(feature_groups),
        "carries_messages": carries_messages,
        "edge_presence": edge_presence,
        "edge_noise": edge_noise,
        "edge_effect": edge_effect,
        "connected": connected,
        "directed": directed,
    }
    question = on.question(every, why_not=why_not, contrast=contrast, among=among, top=top)
    chosen = engine_of(
        engine,
        queries=len(every),
        workers=workers,
        threads=threads,
        address=address,
        gpus_per_worker=gpus_per_worker,
    )
    sent = None
    if chosen.name == "ray":  # on other machines data set and model are loaded by their names
        sent = NamedTask({**named, "told": wanted.told}, choices, question, on.digests)
    explaining.explain(
        on.task(choices, question),
        [query.key for query in every],
        engine=chosen,
        sent=sent,
        out=out,
        asked={
            "command": sys.argv[1:],
            "subject": on.description,
            f"{on.data.level}s": wanted.spec,
            "named": naming.lasting(named, dataset=on.data.name),
        },
        known=Known(names, on.data.truth(every)),
        retry_failed=retry_failed,
        json_progress=json_progress,
    )


def _whole_number_or_all(value: str) -> int | None:
    if value == "all":
        return None
    try:
        return int(value)
    except ValueError:
        raise typer.BadParameter(
            f"expected a whole number or all, got {value!r}", param_hint="--k"
        ) from None
