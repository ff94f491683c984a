"""Models of links: what they are trained on, that they learn, and what is kept of them."""

import random
from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import Data

from zorro.data import load
from zorro.errors import InputError, ModelError
from zorro.models import (
    LinkTrainingSettings,
    build,
    checkpoint,
    link_auc,
    split_links,
    train_links,
)

SHORT = LinkTrainingSettings(epochs=4, width=4)


def communities(*, undirected=True):
    """Four groups of nodes that link only within, and features that tell them."""
    generator = torch.Generator().manual_seed(2)
    group = torch.arange(80) % 4
    pairs = torch.randint(80, (2, 2400), generator=generator)
    pairs = pairs[:, (group[pairs[0]] == group[pairs[1]]) & (pairs[0] < pairs[1])]
    edge_index = torch.cat([pairs, pairs.flip(0)], dim=1) if undirected else pairs
    x = torch.eye(4)[group] + 0.3 * torch.randn(80, 4, generator=generator)
    return Data(x=x, edge_index=edge_index.unique(dim=1))


@pytest.fixture(scope="module")
def split():
    return split_links(communities())


def as_set(pairs):
    return {tuple(sorted(pair)) for pair in pairs.t().tolist()}


@pytest.mark.parametrize("undirected", [True, False])
def test_no_message_carries_a_link_of_a_later_part(undirected):
    graph = communities(undirected=undirected)
    split = split_links(graph, seed=3)
    there = {
        name: as_set(part.edge_label_index[:, part.edge_label == 1])
        for name, part in (("train", split.train), ("val", split.val), ("test", split.test))
    }
    every = as_set(graph.edge_index)
    assert there["train"] | there["val"] | there["test"] == every
    assert sum(len(links) for links in there.values()) == len(every)
    assert as_set(split.train.edge_index) == as_set(split.val.edge_index) == there["train"]
    assert as_set(split.test.edge_index) == there["train"] | there["val"]
    for part in (split.val, split.test):
        absent = part.edge_label_index[:, part.edge_label == 0]
        assert absent.size(1) == int(part.edge_label.sum())
        if undirected:
            assert not as_set(absent) & every


def test_a_seed_decides_and_other_randomness_is_left_alone():
    graph = communities()
    torch.manual_seed(1)
    random.seed(1)
    expected = torch.rand(3), random.random()
    torch.manual_seed(1)
    random.seed(1)
    one, same, other = (split_links(graph, seed=seed).test for seed in (5, 5, 6))
    trained = [train_links("gcn", split_links(graph), SHORT) for _ in range(2)]
    assert torch.equal(torch.rand(3), expected[0])
    assert random.random() == expected[1]
    assert torch.equal(one.edge_label_index, same.edge_label_index)
    assert not torch.equal(one.edge_label_index, other.edge_label_index)
    for first, second in zip(*(model.parameters() for model in trained), strict=True):
        assert torch.equal(first, second)


def test_links_are_learnt_and_the_best_epoch_is_kept(split):
    built, seen = [], []

    def factory(features, width):
        built.append(build("gcn", features, width, level="link", seed=1))
        return built[0]

    def look(epoch, loss):
        seen.append(link_auc(built[0], split.val))

    settings = LinkTrainingSettings(epochs=40, width=8)
    model = train_links(factory, split, settings, on_epoch=look)
    assert len(seen) == 40
    assert link_auc(model, split.val) == max(seen)
    assert link_auc(model, split.test) > 0.9
    assert not model.training


def test_the_auc_is_the_share_of_pairs_in_the_right_order(split):
    model = build("gcn", 4, 4, level="link").train()
    part = split.val
    with torch.no_grad():
        logits = model(part.x, part.edge_index, part.edge_label_index).tolist()
    labels = part.edge_label.tolist()
    wins = pairs = 0.0
    for mine, is_link in zip(logits, labels, strict=True):
        for other, is_other in zip(logits, labels, strict=True):
            if is_link and not is_other:
                wins += (mine > other) + 0.5 * (mine == other)
                pairs += 1
    assert link_auc(model, part) == pytest.approx(wins / pairs)
    assert model.training


def test_a_link_is_the_inner_product_of_its_ends():
    model: Any = build("gcn", 4, 6, level="link").eval()
    graph = communities()
    encoded = model.encode(graph.x, graph.edge_index)
    links = torch.tensor([[0, 3], [7, 5]])
    expected = torch.stack([encoded[0] @ encoded[7], encoded[3] @ encoded[5]])
    assert torch.allclose(model(graph.x, graph.edge_index, links), expected)


def test_edge_weights_follow_their_edges():
    graph = communities()
    graph.edge_weight = torch.rand(graph.edge_index.size(1))
    told: list[Any] = []
    train_links("gcn", split_links(graph), SHORT, on_inputs=told.append)
    (inputs,) = told
    assert list(inputs.passed) == ["edge_weight"]


def test_a_record_is_enough_to_build_the_model_again(split, tmp_path):
    model = train_links("gcn", split, SHORT)
    record = checkpoint.describe_links(model, "gcn", split, dataset="mine", settings=SHORT)
    path = tmp_path / "links.safetensors"
    checkpoint.save(path, model, record)
    read = checkpoint.read_record(path)
    assert LinkTrainingSettings(**read["settings"]) == SHORT
    again = build(read["architecture"], read["in_channels"], read["out_channels"], level="link")
    checkpoint.load(again, path)
    assert read["auc"] == {"val": link_auc(again, split.val), "test": link_auc(again, split.test)}


class OfNodes(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.conv = gnn.GCNConv(features, width)

    def forward(self, x, edge_index, edge_label_index):
        return self.conv(x, edge_index)


def test_what_cannot_be_trained_is_refused(split):
    with pytest.raises(ModelError, match=r"a logit per link, \(\d+,\); it returned \(80, 4\)"):
        train_links(OfNodes, split, SHORT)
    with pytest.raises(InputError, match="expected one that takes edge_label_index"):
        train_links(lambda features, width: nn.Linear(features, width), split, SHORT)
    with pytest.raises(InputError, match="width"):
        LinkTrainingSettings(width=0)
    with pytest.raises(InputError, match="part: expected links and pairs that are none"):
        link_auc(build("gcn", 4, 4, level="link"), split.train)
    few = Data(x=torch.eye(4), edge_index=torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]))
    with pytest.raises(InputError, match="edge_index: expected at least 20 links to split, got 2"):
        split_links(few)
    with pytest.raises(InputError, match=r"one of gcn or .* got 'gat'"):
        build("gat", 4, 4, level="link")


def test_links_of_cora_are_learnt(data_dir):
    split = split_links(load("cora"))
    model = train_links("gcn", split, LinkTrainingSettings(epochs=25))
    assert link_auc(model, split.test) > 0.8
