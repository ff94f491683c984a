"""Draw the README's picture: one explanation on its neighbourhood.

    python docs/draw_explanation.py

Trains the paper's three-layer GCN on a generated BA-Community graph, explains one house node and
writes docs/explanation.png.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import networkx as nx
import numpy as np
from matplotlib import pyplot as plt

import zorro
from zorro import data, models

NODE = 662
ORANGE, BLUE, GREY = "#d55e00", "#0072b2", "#c9ccd1"


def main() -> None:
    """Train, explain, draw."""
    graph = data.load("ba-community")
    model = models.train("gcn3", graph, models.paper_settings("ba-community"))
    explanation = zorro.Zorro(model, graph.x, graph.edge_index, tau=0.85).explain(NODE)
    print(explanation)

    edges = [(a, b) for a, b in graph.edge_index.t().tolist() if a < b]
    near = nx.ego_graph(nx.Graph(edges), NODE, radius=3)
    hops = nx.single_source_shortest_path_length(near, NODE)
    shown = near.subgraph([n for n in near if hops[n] <= 2 or n in explanation.nodes])
    rest = len(near) - len(shown)
    place = nx.kamada_kawai_layout(shown)

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.6), width_ratios=(1.45, 1), constrained_layout=True
    )
    nx.draw_networkx_edges(shown, place, ax=left, edge_color=GREY, width=1.0)
    kept = [n for n in shown if n in explanation.nodes]
    others = [n for n in shown if n not in explanation.nodes]
    nx.draw_networkx_nodes(shown, place, others, ax=left, node_size=110, node_color=GREY)
    nx.draw_networkx_nodes(shown, place, kept, ax=left, node_size=420, node_color=ORANGE)
    nx.draw_networkx_nodes(
        shown,
        place,
        [NODE],
        ax=left,
        node_size=560,
        edgecolors=BLUE,
        linewidths=3,
        node_color=ORANGE if NODE in explanation.nodes else "white",
    )
    named = {n: str(n) for n in {*kept, NODE}}
    nx.draw_networkx_labels(shown, place, named, ax=left, font_size=8)
    left.set_title(
        f"The prediction for node {NODE} (ringed) rests on the orange nodes\n"
        f"out of {explanation.graph.candidates} that it can see"
        + (f" ({rest} three hops away not drawn)" if rest else ""),
        fontsize=10,
    )
    left.axis("off")

    features = range(graph.x.size(1))
    values = graph.x[list(explanation.nodes)].numpy()
    mask = np.isin(list(features), explanation.features)
    image = np.ma.masked_where(~np.tile(mask, (len(values), 1)), values)
    right.set_facecolor("#eceef1")
    drawn = right.imshow(image, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    right.set_yticks(range(len(values)), [f"node {n}" for n in explanation.nodes])
    right.set_xticks(list(features), [str(f) for f in features])
    right.set_xlabel("feature")
    estimate = explanation.fidelity
    right.set_title(
        "… and on these of their features. With all else random, the\nanswer stays in "
        f"{estimate.value:.1%} of {estimate.samples} fresh trials "
        f"(at least {estimate.lower:.0%}, 95 % sure)",
        fontsize=10,
    )
    figure.colorbar(drawn, ax=right, label="feature value", shrink=0.8)
    figure.savefig(Path(__file__).parent / "explanation.png", dpi=130)


if __name__ == "__main__":
    main()
