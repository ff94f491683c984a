"""What explanations are judged by: one measure a file, each a pure function."""

from zorro.metrics.edge_fidelity import edge_fidelity
from zorro.metrics.edge_masks import node_mask_from_edges, nodes_of_top_edges
from zorro.metrics.faithfulness import faithfulness
from zorro.metrics.fidelity_variants import (
    fidelity_minus_acc,
    fidelity_minus_prob,
    fidelity_plus_acc,
    fidelity_plus_prob,
)
from zorro.metrics.ground_truth import (
    ground_truth_accuracy,
    ground_truth_auroc,
    ground_truth_jaccard,
    ground_truth_precision,
    ground_truth_recall,
)
from zorro.metrics.hard_masks import normalise_and_threshold, top_fraction, top_k
from zorro.metrics.homophily import homophily
from zorro.metrics.robust_fidelity import (
    robust_fidelity_minus_acc,
    robust_fidelity_minus_prob,
    robust_fidelity_plus_acc,
    robust_fidelity_plus_prob,
)
from zorro.metrics.sparsity import effective_size
from zorro.metrics.stability import stability
from zorro.metrics.undirected import UndirectedEdges
from zorro.metrics.validity import validity

__all__ = [
    "UndirectedEdges",
    "edge_fidelity",
    "effective_size",
    "faithfulness",
    "fidelity_minus_acc",
    "fidelity_minus_prob",
    "fidelity_plus_acc",
    "fidelity_plus_prob",
    "ground_truth_accuracy",
    "ground_truth_auroc",
    "ground_truth_jaccard",
    "ground_truth_precision",
    "ground_truth_recall",
    "homophily",
    "node_mask_from_edges",
    "nodes_of_top_edges",
    "normalise_and_threshold",
    "robust_fidelity_minus_acc",
    "robust_fidelity_minus_prob",
    "robust_fidelity_plus_acc",
    "robust_fidelity_plus_prob",
    "stability",
    "top_fraction",
    "top_k",
    "validity",
]
