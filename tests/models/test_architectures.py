"""The paper's trained models load as they are and reach the published accuracies."""

import pytest
import torch

from zorro.data import ba_community, load
from zorro.models import MODELS, accuracy, build, checkpoint

# The paper's table "Datasets and statistics".
PUBLISHED = {
    "cora": {"gcn": 0.794, "gat": 0.791, "gin": 0.679, "appnp": 0.799},
    "citeseer": {"gcn": 0.675, "gat": 0.673, "gin": 0.480, "appnp": 0.663},
    "pubmed": {"gcn": 0.782, "gat": 0.765, "gin": 0.590, "appnp": 0.782},
}
# The paper's table "Accuracy of the selected epochs": test and motif; the last is the end.
PUBLISHED_EPOCHS = {
    0: (0.22, 0.00),
    200: (0.45, 0.00),
    400: (0.69, 0.47),
    600: (0.75, 0.62),
    1400: (0.80, 0.72),
    None: (0.84, 0.76),
}


def paper_model(dataset, name, data, *, epoch=None):
    model = build(name, data.num_features, int(data.y.max()) + 1)
    checkpoint.load(model, checkpoint.paper_checkpoint(dataset, name, epoch=epoch))
    return model


@pytest.mark.parametrize("dataset", PUBLISHED)
@pytest.mark.parametrize("name", ["gcn", "gat", "gin", "appnp"])
def test_published_accuracy_on_citations(paper_dir, real_graph, dataset, name):
    data = real_graph(dataset)
    found = accuracy(paper_model(dataset, name, data), data, data.test_mask)
    # All are equal to the published figure but GAT on Cora and CiteSeer, two nodes off.
    assert found == pytest.approx(PUBLISHED[dataset][name], abs=0.0021 if name == "gat" else 1e-6)


@pytest.mark.parametrize("epoch", PUBLISHED_EPOCHS)
def test_published_accuracy_on_ba_community(paper_dir, epoch):
    data = load("ba-community-paper")
    model = paper_model("ba-community-paper", "gcn3", data, epoch=epoch)
    motif_mask = torch.zeros(data.num_nodes, dtype=torch.bool)
    motif_mask[ba_community.motif_nodes()] = True
    found = accuracy(model, data, data.test_mask), accuracy(model, data, motif_mask)
    assert found == pytest.approx(PUBLISHED_EPOCHS[epoch], abs=0.006)


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_log_probabilities(name):
    data = ba_community.generate()
    scores = build(name, 10, 8).eval()(data.x, data.edge_index)
    assert scores.shape == (1400, 8)
    assert scores.exp().sum(dim=1).tolist() == pytest.approx([1.0] * 1400, abs=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_move_with_the_nodes(name):
    """Numbering the nodes differently numbers the scores differently, and nothing else."""
    data = ba_community.generate()
    model = build(name, 10, 8).eval()
    order = torch.randperm(1400, generator=torch.Generator().manual_seed(0))
    place = order.argsort()
    with torch.no_grad():
        scores = model(data.x, data.edge_index)
        moved = model(data.x[order], place[data.edge_index])
    torch.testing.assert_close(moved, scores[order], rtol=1e-4, atol=1e-4)
