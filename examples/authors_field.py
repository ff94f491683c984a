"""What field an author is of, and what two models rest that on: HGT, and SAGE by relation.

    python examples/authors_field.py            # PyG's DBLP, which is downloaded
    python examples/authors_field.py dblp       # the same authors, from ZORRO_HETERO

First the coarse question, which types and which relations an answer rests on at all; then which
single nodes and features.
"""

from __future__ import annotations

import sys

from zorro import Zorro
from zorro.data import load_hetero
from zorro.data.hetero_catalogue import chosen_target
from zorro.models import HeteroTrainingSettings, hetero_accuracy, train_hetero


def main(dataset: str = "dblp-pyg", *, count: int = 5, epochs: int = 60) -> None:
    """Train both models and explain some of their answers for test nodes.

    Args:
        dataset: its name, or a file of your own.
        count: of nodes.
        epochs: of training, at most.
    """
    data = load_hetero(dataset)
    target = chosen_target(data, None)
    nodes = data[target].test_mask.nonzero().flatten()[:count].tolist()
    for architecture in ("hgt", "hetero-sage"):
        model = train_hetero(architecture, data, target, HeteroTrainingSettings(epochs=epochs))
        accuracy = hetero_accuracy(model, data, target)["test"]
        print(f"\n{architecture}: test accuracy {accuracy:.3f}")
        types = Zorro.of_hetero(model, data, target, keep=("types",))
        relations = Zorro.of_hetero(model, data, target, keep=("relations",))
        single = Zorro.of_hetero(model, data, target)
        for node in nodes:
            found = single.explain(node)
            kept = [f"{name} {members}" for name, members in found.nodes.items()]
            words = [f"{name} {members}" for name, members in found.features.items()]
            parts = {
                "types": types.explain(node).node_types,
                "relations": ["–".join(each) for each in relations.explain(node).relations],
                "nodes": kept,
                "features": words,
            }
            told = "; ".join(f"{kind} {', '.join(some) or 'none'}" for kind, some in parts.items())
            print(f"{found.query} → class {found.predicted_class} ({found.status}): {told}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
