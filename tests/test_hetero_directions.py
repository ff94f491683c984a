"""Edges of relations that have no way back, whatever the order of the types."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).parent))
from plain_edges import assert_same_share
from plain_hetero import as_kept, plain_share
from torch_geometric.data import HeteroData

from zorro import Zorro


@pytest.mark.parametrize("types", [("user", "item"), ("item", "user")])
def test_an_edge_to_a_type_that_stands_before_its_own_is_found(types):
    """What users bought decides their class; the relation leads from items to users alone."""
    die = torch.Generator().manual_seed(0)
    data = HeteroData()
    for name in types:
        data[name].x = torch.randn(12, 2, generator=die)
    relation = ("item", "bought_by", "user")
    edges = torch.randint(12, (2, 40), generator=die).unique(dim=1)
    data[relation].edge_index = edges

    def model(x_dict, edge_index_dict):
        item, user = edge_index_dict[relation]
        return torch.zeros_like(x_dict["user"]).index_add(0, user, x_dict["item"][item])

    user = int(edges[1].mode().values)
    zorro = Zorro.of_hetero(model, data, "user", keep=("edges",))
    found = zorro.explain(user)
    stayed, samples = plain_share(model, data, "user", user, as_kept(found))
    assert_same_share(found.fidelity, stayed, samples)
    mine = [tuple(pair) for pair in edges.t().tolist() if pair[1] == user]
    for kept in ([], mine[:1], mine):
        measured = zorro.fidelity(user, edges={relation: kept}, samples=400)
        stayed, samples = plain_share(
            model, data, "user", user, {"edges": {relation: kept}}, samples=400
        )
        assert_same_share(measured, stayed, samples)
    assert zorro.fidelity(user, edges={relation: mine}, samples=50).value == 1.0


@pytest.mark.parametrize("directed", [None, True])
def test_a_link_that_is_asked_about_leaves_other_relations_alone(directed):
    """A pair scores by the edges between its ends: those it is asked about are no evidence."""
    data = HeteroData()
    data["user"].x, data["item"].x = torch.eye(4)[:, :2], torch.eye(4)[:, 2:]
    rated, viewed = ("user", "rated", "item"), ("user", "viewed", "item")
    back = ("item", "rev_rated", "user")
    data[rated].edge_index = torch.tensor([[0, 1, 2], [0, 1, 2]])
    data[back].edge_index = torch.tensor([[0, 1, 2], [0, 1, 2]])
    data[viewed].edge_index = torch.tensor([[0, 3], [0, 2]])

    class Counts(torch.nn.Module):
        def forward(self, x_dict, edge_index_dict, edge_label_index):
            score = -0.5 * torch.ones(edge_label_index.size(1))
            for relation, weight in ((rated, 1.0), (back, 1.0), (viewed, 2.0)):
                ends = edge_label_index if relation[0] == "user" else edge_label_index.flip(0)
                same = (edge_index_dict[relation].unsqueeze(2) == ends.unsqueeze(1)).all(0)
                score = score + weight * same.sum(0)
            return score

    def answered(asked, pair, **options):
        zorro = Zorro.of_hetero(
            Counts(), data, asked, threshold=0.0, keep=("edges",), directed=directed, **options
        )
        return zorro.explain(pair)

    assert answered(rated, (0, 0)).predicted_class == 1  # it was viewed
    assert answered(rated, (1, 1)).predicted_class == 0
    assert answered(rated, (1, 1), carries_messages=True).predicted_class == 1
    assert answered(viewed, (3, 2)).predicted_class == 0
    assert answered(("user", "likes", "item"), (1, 1)).predicted_class == 1  # none such to take out
    found = answered(rated, (0, 0), edge_presence=0.0)
    assert found.edges[viewed] == ((0, 0),)
    assert found.edges[rated] == ()


def test_the_way_back_follows_where_papers_cite_one_another():
    """Between nodes of one type each citation has its own way back, its reverse another one."""
    data = HeteroData()
    data["paper"].x = torch.randn(4, 2, generator=torch.Generator().manual_seed(1))
    cites, back = ("paper", "cites", "paper"), ("paper", "rev_cites", "paper")
    data[cites].edge_index = torch.tensor([[0, 1, 2, 3, 3], [1, 0, 1, 2, 3]])
    data[back].edge_index = data[cites].edge_index.flip(0)

    def model(x_dict, edge_index_dict):
        """Scores tell citations without their way back, and how often a paper is cited."""
        papers = len(x_dict["paper"])
        one, other = torch.zeros(2, papers, papers)
        one[tuple(edge_index_dict[cites])] = 1.0
        other[tuple(edge_index_dict[back].flip(0))] = 1.0
        more, broken = one.sum(0) - 0.5, 9 * (one - other).abs().sum().expand(papers)
        return torch.stack([more, -more, broken], dim=1)

    zorro = Zorro.of_hetero(model, data, "paper", keep=("edges",))
    cited = [tuple(pair) for pair in data[cites].edge_index.t().tolist()]
    assert zorro.fidelity(1, edges={cites: cited}).value == 1.0
    for kept in ([], [(0, 1)], [(1, 0)]):
        measured = zorro.fidelity(1, edges={cites: kept}, samples=400)
        plain = plain_share(model, data, "paper", 1, {"edges": {cites: kept}}, samples=400)
        assert_same_share(measured, *plain)
        turned = [(v, u) for u, v in kept]
        assert zorro.fidelity(1, edges={back: turned}, samples=400) == measured
    for node in range(3):
        found = zorro.explain(node)
        assert set(found.edges[cites]) <= set(cited)
        assert found.status in ("certified", "nothing needed")
        plain = plain_share(model, data, "paper", node, as_kept(found))
        assert_same_share(found.fidelity, *plain)
