"""`zorro explain`, `fidelity` and `runs` on links between the nodes of a graph."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import torch
from forked import zorro_command
from restored_models import restored
from scipy.stats import binom

from zorro import Explanation, Zorro, open_run
from zorro.cli import naming
from zorro.cli.asked import asked
from zorro.cli.link_data import LinkData
from zorro.cli.model_and_data import load
from zorro.cli.named_task import NamedTask
from zorro.cli.serve import _served
from zorro.data import load as load_named
from zorro.data import npz
from zorro.models import LinkTrainingSettings, checkpoint, split_links, train_links
from zorro.question import Query
from zorro.show.web.served import Served

NODES, SEED = 60, 3
QUICK = ["--samples", 40, "--tau", 0.8]
OPTIONS: dict[str, Any] = {"samples": 40, "tau": 0.8}
# Several links at once are not traced: less is asked of them.
BRIEF = [*QUICK, "--keep", "nodes", "--no-certify", "--fresh-samples", 50]
BRIEFLY = {**OPTIONS, "keep": ("nodes",), "delta": None, "fresh_samples": 50}
OWN = """
import torch
from torch_geometric.nn import GCNConv

class Net(torch.nn.Module):
    def __init__(self, features, width):
        super().__init__()
        torch.manual_seed(5)
        self.conv = GCNConv(features, width)

    def forward(self, x, edge_index, edge_label_index):
        z = self.conv(x, edge_index)
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1)
"""


def communities() -> dict[str, Any]:
    """Four groups of nodes, one feature high in each; most links are within groups."""
    rng = np.random.default_rng(0)
    group = np.arange(NODES) // 15
    x = rng.normal(size=(NODES, 6)).astype(np.float32)
    x[np.arange(NODES), group] += 3
    pairs: set[Any] = set()
    while len(pairs) < 150:
        u, v = sorted(rng.integers(NODES, size=2).tolist())
        if u != v and (group[u] == group[v] or rng.random() < 0.05):
            pairs.add((u, v))
    links = np.array(sorted(pairs)).T
    return {"x": x, "edge_index": np.concatenate([links, links[::-1]], axis=1)}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the graph, a GCN trained on its links, and its record."""
    folder = tmp_path_factory.mktemp("links")
    np.savez(folder / "links.npz", **communities())
    split = split_links(npz.read(folder / "links.npz"), seed=SEED)
    settings = LinkTrainingSettings(epochs=40)
    model = train_links("gcn", split, settings)
    record = checkpoint.describe_links(model, "gcn", split, dataset="links.npz", settings=settings)
    checkpoint.save(folder / "linker.safetensors", model, {**record, "data_seed": SEED})
    return folder


@pytest.fixture
def linker(run, made, tmp_path):
    """The trained model, in the current folder, with its graph."""
    for name in ("linker.json", "links.npz"):
        shutil.copy(made / name, tmp_path)
    return Path(shutil.copy(made / "linker.safetensors", tmp_path))


@pytest.fixture
def split(made):
    return split_links(npz.read(made / "links.npz"), seed=SEED)


@pytest.fixture
def explainer(linker, split):
    """What makes an explainer of the same model and links in Python."""
    model, test = restored(linker), split.test
    return partial(Zorro.of_links, model, test.x, test.edge_index, threshold=0.0)


@pytest.fixture
def alone(explainer):
    return explainer(**OPTIONS)


def plain(explanation: Explanation) -> dict:
    return json.loads(explanation.to_json()) | {"seconds": 0}


def found_in(text: str) -> dict[tuple[int, int], dict]:
    every = [json.loads(line) | {"seconds": 0} for line in text.splitlines()]
    return {(one["query"]["index"], one["query"]["to"]): one for one in every}


def scores(model, part, u, ends, asked=None):
    """The model's scores of links from one node, some of them taken out of the messages."""
    asked, edges = list(ends if asked is None else asked), part.edge_index
    keep = torch.ones(edges.size(1), dtype=torch.bool)
    for v in ends:
        for a, b in ((u, v), (v, u)):
            keep &= ~((edges[0] == a) & (edges[1] == b))
    with torch.no_grad():
        return model(part.x, edges[:, keep], torch.tensor([[u] * len(asked), asked]))


def plain_share(model, x, edge_index, link, nodes, features, samples=600):
    """How often the link's answer stays, all but a set being redrawn from the columns."""
    generator = torch.Generator().manual_seed(6)
    keep = torch.zeros_like(x, dtype=torch.bool)
    for node in nodes:
        keep[node, list(features)] = True
    asked = torch.tensor([link]).t()
    with torch.no_grad():
        before = model(x, edge_index, asked) > 0
        stayed = 0
        for _ in range(samples):
            rows = torch.randint(len(x), x.shape, generator=generator)
            redrawn = torch.where(keep, x, x.gather(0, rows))
            stayed += bool((model(redrawn, edge_index, asked) > 0) == before)
    return stayed


def test_what_is_found_is_what_the_library_finds_on_the_same_split(run, linker, alone):
    words = ["--checkpoint", linker, "--links", "3-7,0-59,7-3", "--out", "-", *QUICK]
    result = run("explain", *words)
    assert result.code == 0, result.err
    expected = {pair: plain(alone.explain(pair)) for pair in [(3, 7), (0, 59), (7, 3)]}
    assert found_in(result.out) == expected
    assert re.search(r"0–59 +no link +no link ✓", result.err)


def test_test_links_are_those_of_the_training_split_and_hold_in_a_plain_loop(
    run, linker, alone, split
):
    words = ["--checkpoint", linker, "--links", "test", "--engine", "in-process", *QUICK]
    result = run("explain", *words, "--out", "kept")
    assert result.code == 0, result.err
    kept = list(open_run("kept"))
    pairs = [tuple(pair) for pair in split.test.edge_label_index.t().tolist()]
    assert [e.query.asked for e in kept] == pairs
    drawn = run("explain", "--checkpoint", linker, "--links", "random:6", "--out", "-", *QUICK)
    assert len(found_in(drawn.out)) == 6
    assert found_in(drawn.out).keys() <= {*pairs}
    model, x = restored(linker), split.test.x
    claims = [e for e in kept if e.status == "certified"]
    assert len(claims) > 3
    for e in claims[:6]:
        stayed = plain_share(model, x, split.test.edge_index, e.query.asked, e.nodes, e.features)
        assert e.certificate is not None
        assert binom.cdf(stayed, 600, e.certificate.bound) > 1e-4


def test_the_truth_is_whether_the_graph_has_the_link(run, linker, split, made):
    edges = {tuple(pair) for pair in npz.read(made / "links.npz").edge_index.t().tolist()}
    there = dict(
        zip(
            map(tuple, split.test.edge_label_index.t().tolist()),
            split.test.edge_label.bool().tolist(),
            strict=True,
        )
    )
    data = LinkData.load("links.npz", seed=SEED, record=checkpoint.read_record(linker))
    queries = data.queries("test", seed=0) + data.queries("0-59,3-3", seed=0)
    truth = data.truth(queries)
    assert truth == {query.key: query.asked in edges for query in queries}
    assert all(truth[Query("link", *pair).key] == is_link for pair, is_link in there.items())
    words = ["--checkpoint", linker, "--links", "test", "--engine", "in-process", *QUICK]
    result = run("explain", *words)
    model, right = restored(linker), 0
    for (u, v), is_link in there.items():
        right += (float(scores(model, split.test, u, [v])) > 0) == is_link
    assert f"{right} of {len(there)} predictions are right." in result.out
    for (u, v), is_link in there.items():
        word = "link" if is_link else "no link"
        assert re.search(rf" {u}–{v} +(no )?link +{word} [✓✗] ", result.out)


def test_messages_go_along_all_links_but_those_to_test(linker, split, made):
    record = checkpoint.read_record(linker)
    data = LinkData.load("links.npz", seed=SEED, record=record)
    edge_index: Any = data.given().graph.edge_index
    assert torch.equal(edge_index, split.test.edge_index)
    whole = LinkData.load("links.npz", seed=SEED, record={})
    edge_index = whole.given().graph.edge_index
    assert torch.equal(edge_index, npz.read(made / "links.npz").edge_index)


def test_a_link_is_compared_with_another_and_with_many(run, linker, explainer, split):
    alone = explainer(**BRIEFLY)
    ends = [1, 20, 31, 47, 58]
    order = scores(restored(linker), split.test, 3, ends).argsort(descending=True).tolist()
    first, second, *_, last = (ends[place] for place in order)
    words = ["--checkpoint", linker, *BRIEF]
    result = run("explain", *words, "--links", f"3-{first}", "--why-not", f"3-{last}", "--out", "a")
    assert result.code == 0, result.err
    (found,) = open_run("a")
    assert plain(found) == plain(alone.explain((3, first), why_not=(3, last)))
    assert f"ahead of 3–{last}" in result.out
    assert "predictions are right" not in result.out
    listed = ",".join(map(str, ends))
    two = ["--links", f"3-{first},3-{second}", "--among", listed, "--top", 2, "--out", "b"]
    result = run("explain", *words, *two)
    assert result.code == 0, result.err
    asked = {"among": ends, "top": 2}
    assert [plain(e) for e in open_run("b")] == [
        plain(alone.explain((3, end), **asked)) for end in (first, second)
    ]
    again = run("explain", *words, *two)
    assert "2 of 2 links explained, 0 of them now" in again.err
    behind = run("explain", *words, "--links", f"3-{last}", "--why-not", f"3-{first}")
    assert behind.code == 1
    assert (
        f"1 of 1 links could not be explained: link 3–{last}: InputError: why_not: expected"
        in (behind.err.splitlines()[-1])
    )


@pytest.mark.parametrize("said", [False, True])
def test_a_link_that_carries_messages_or_not(run, linker, explainer, split, said):
    u, v = split.test.edge_index[:, 0].tolist()
    words = ["--checkpoint", linker, *(["--carries-messages"] if said else [])]
    result = run("explain", *words, "--links", f"{u}-{v}", "--out", "-", *QUICK)
    expected = explainer(carries_messages=said, **OPTIONS).explain((u, v))
    assert found_in(result.out) == {(u, v): plain(expected)}
    with torch.no_grad():
        score = scores(restored(linker), split.test, u, [] if said else [v], asked=[v])
    assert expected.probabilities[1] == pytest.approx(float(score.sigmoid()), abs=1e-5)
    measured = run("fidelity", *words, "--link", f"{u}-{v}", "--keep-nodes", u)
    hits = explainer(carries_messages=said, seed=1).fidelity((u, v), nodes=[u], samples=1000).hits
    assert f"stayed in {hits} of 1000 samples" in measured.out


def test_fidelity_is_what_a_plain_loop_counts(run, linker, split):
    kept = [1, 8, 11, 12, 13, 52, 53, 55, 58]
    words = ["--link", "0-59", "--keep-nodes", ",".join(map(str, kept)), "--keep-features", "0,3"]
    result = run("fidelity", "--checkpoint", linker, *words, "--samples", 2000)
    assert result.code == 0, result.err
    assert result.out.startswith("link      0-59, gcn on links.npz, weights ")
    told = float(result.out.split("fidelity  ")[1].split()[0])
    model, test = restored(linker), split.test
    counted = plain_share(model, test.x, test.edge_index, (0, 59), kept, [0, 3], samples=2000)
    assert 0.05 < counted / 2000 < 0.97
    assert told == pytest.approx(counted / 2000, abs=0.05)


def test_a_run_is_kept_resumed_and_told_of_in_links(run, linker, tmp_path):
    words = ["explain", "--checkpoint", linker, "--queries", "link:28-6,link:3-7,0-59"]
    words += ["--out", "kept", "--keep", "nodes", *QUICK]
    first = run(*words, "--engine", "processes", "--workers", 1, "--json-progress")
    assert first.code == 0, first.err
    told = [json.loads(line) for line in first.err.splitlines() if line.startswith("{")]
    assert {(line["source"], line["target"]) for line in told} == {(28, 6), (3, 7), (0, 59)}
    assert "3 of 3 links explained, 3 of them now" in first.err
    assert "kept: 3 of 3 links are there already" in run(*words).err
    shown = run("runs", "show", "kept")
    assert "3 of 3 links explained, " in shown.out
    assert "28–6" in shown.out
    assert run("runs", "show", "kept", "--link", "28-6").out.startswith("link         28–6\n")
    assert "3/3" in run("runs", "list").out
    files = ["--csv", "e.csv", "--parquet", "e.parquet", "--jsonl", "e.jsonl"]
    assert run("runs", "export", "kept", *files).code == 0
    for table in (pandas.read_csv("e.csv"), pandas.read_parquet("e.parquet")):
        assert table["source"].tolist() == [28, 3, 0]
        assert table["target"].tolist() == [6, 7, 59]
    lines = Path("e.jsonl").read_text().splitlines()
    assert [Explanation.from_json(line) for line in lines] == list(open_run("kept"))
    verified = run("runs", "verify", "kept", "--seed", 1)
    assert "\nverified  kept: 3 of 3 rows, gcn on " in verified.out, verified.err
    other = run(*words, "--carries-messages")
    assert "kept holds another run; it differs in parameters.carries_messages" in other.err


def test_a_killed_command_goes_on(linker, tmp_path):
    words = [
        "explain",
        "--checkpoint",
        linker,
        "--links",
        "test",
        "--out",
        "run",
        "--json-progress",
    ]
    command = [*words, *QUICK, "--engine", "in-process"]
    acknowledged: set[Any] = set()
    for most in (5, None):
        with zorro_command(*command, folder=tmp_path) as process:
            for line in process.stderr:
                if not line.startswith("{"):
                    continue
                said = json.loads(line)
                assert (said["source"], said["target"]) not in acknowledged, "computed again"
                acknowledged.add((said["source"], said["target"]))
                if len(acknowledged) == most:
                    process.kill()
                    break
            code = process.wait()
        kept = {e.query.asked for e in open_run(tmp_path / "run")}
        assert acknowledged <= kept
        acknowledged = kept
    assert code == 0
    assert len(acknowledged) == open_run(tmp_path / "run").asked


def test_a_run_opens_its_links_and_model_again(run, linker, tmp_path, monkeypatch, alone):
    words = ["--checkpoint", linker, "--links", "3-7", "--out", "kept", *QUICK]
    assert run("explain", *words).code == 0
    monkeypatch.chdir("/")
    kept = open_run(tmp_path / "kept")
    named = naming.named_by(kept)
    assert named is not None
    again = load(**named)
    assert isinstance(again.data, LinkData)
    assert again.digests == (kept.manifest["data"]["sha256"], kept.manifest["model"]["sha256"])
    # Another split sends messages along other links.
    of_another = naming.named_by(kept, data_seed=SEED + 1)
    assert of_another is not None
    other = load(**of_another)
    assert other.digests[0] != again.digests[0]


def test_a_task_of_names_answers_for_links(run, linker, explainer):
    named: dict[str, Any] = {
        "dataset": None,
        "model": None,
        "checkpoint": str(linker),
        "data_seed": None,
    }
    question = {"why_not": [3, 59]}
    sent = pickle.loads(pickle.dumps(NamedTask(named, BRIEFLY, question, load(**named).digests)))
    answer = sent.open(workers=2)
    found = answer(Query("link", 3, 7).key)
    assert plain(found) == plain(explainer(**BRIEFLY).explain((3, 7), **question))


def test_your_own_model_sees_all_links_and_is_asked_for_its_threshold(run, linker, made, tmp_path):
    (tmp_path / "my_links.py").write_text(OWN)
    words = ["--dataset", "links.npz", "--model", "my_links:Net", *QUICK]
    refused = run("explain", *words, "--links", "3-7")
    assert refused.code == 1
    assert "threshold: the model returns one number" in refused.err.splitlines()[-1]
    assert "only a checkpoint of" in run("explain", *words, "--links", "test").err
    result = run("explain", *words, "--links", "3-7", "--threshold", 0, "--out", "-")
    assert result.code == 0, result.err
    import my_links

    data = npz.read(made / "links.npz")
    model = my_links.Net(6, LinkTrainingSettings().width).eval()
    zorro = Zorro.of_links(model, data.x, data.edge_index, threshold=0.0, **OPTIONS)
    assert found_in(result.out) == {(3, 7): plain(zorro.explain((3, 7)))}
    # A worker on another machine is told that links are meant.
    wanted = asked(nodes=None, links="3-7", graphs=None, queries=None, level=None)
    named = {"dataset": "links.npz", "model": "my_links:Net", "checkpoint": None, "data_seed": None}
    told: dict[str, Any] = {**named, "told": wanted.told}
    sent = NamedTask(told, {**OPTIONS, "threshold": 0.0}, {}, load(**told).digests)
    answer = pickle.loads(pickle.dumps(sent)).open()(Query("link", 3, 7).key)
    assert dataclasses.replace(answer, seconds=0.0).selected == zorro.explain((3, 7)).selected


def test_a_value_of_a_link_needs_no_threshold(run, linker, alone):
    words = ["--checkpoint", linker, "--links", "3-7", "--tolerance", 0.5, *QUICK]
    result = run("explain", *words)
    assert result.code == 0, result.err
    assert "± 0.5" in result.out
    assert "off by" not in result.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--links", "3-60"], "links: expected nodes from 0 to 59, got 60"),
        (["--links", "3"], 'links: expected "3-7,12-5", "random:20" or "test", got'),
        (["--links", "3-7-9"], 'links: expected "3-7,12-5", "random:20" or "test", got'),
        (["--links", "all"], 'links: expected "3-7,12-5", "random:20" or "test", got'),
        (["--links", "random:x"], 'links: expected "3-7,12-5", "random:20" or "test", got'),
        (["--links", "random:999"], "links: expected at most 30"),
        (["--queries", "link:3:7"], 'links: expected "3-7,12-5", "random:20" or "test", got'),
        (["--queries", "link:3-7,node:3"], "--queries: expected links, as with --queries"),
        (["--nodes", 3], "--nodes: expected links, as with --checkpoint"),
        (["--graphs", 3], "--graphs: expected links, as with the checkpoint's data set links.npz"),
        (["--links", "3-7", "--level", "node"], "--links: expected nodes, as with --level node"),
        (["--links", "3-7", "--why-not", "4-9"], "why_not: expected another link (3, w) from the"),
        (["--links", "3-7", "--why-not", "3-7"], "why_not: expected another link (3, w) from the"),
        (["--links", "3-7,4-7", "--why-not", "3-9"], "why_not: expected another link (4, w)"),
        (["--links", "3-7", "--why-not", "3-60"], "why_not: expected whole numbers from 0 to 59"),
        (["--links", "3-7", "--why-not", 1], '--why-not: expected two nodes such as "3-7"'),
        (["--links", "3-7", "--among", "a"], "--among: expected nodes such as 9,12, got 'a'"),
        (["--links", "3-7", "--among", "60"], "among: expected whole numbers from 0 to 59, got 60"),
        (["--links", "3-7", "--among", "7"], "among: expected other ends to compare the link with"),
        (["--links", "3-7", "--among", "8", "--top", 2], "top: expected a number from 1 to 1"),
        (["--links", "3-7", "--top", 2], "among: expected other ends to compare the link with"),
        (["--links", "3-7", "--contrast", "not"], "contrast: expected 'beats' for links"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_what_cannot_be_asked_is_one_line(run, linker, words, said):
    result = run("explain", "--checkpoint", linker, *words, *QUICK)
    assert result.code == 1
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith("zorro: error: ")
    assert said in result.err


def test_links_are_not_nodes(run, checkpoint, linker):  # of which the first is a model of nodes
    words = ["--checkpoint", checkpoint, *QUICK]
    result = run("explain", *words, "--links", "3-7")
    assert f"--links: expected nodes, as with --checkpoint {checkpoint}, got links (3-7)" in (
        result.err
    )
    for option, value in (("--among", "3"), ("--top", 2), ("--carries-messages", None)):
        further = [option] if value is None else [option, value]
        result = run("explain", *words, "--nodes", 3, *further)
        assert f"{option}: expected links, which alone have it, got nodes" in result.err
    result = run("explain", *words, "--nodes", 3, "--why-not", "3-7")
    assert "--why-not: expected a class, by its number, got '3-7'" in result.err
    assert "--link: expected nodes" in run("fidelity", *words[:2], "--link", "3-7").err
    assert '--link: expected two nodes such as "3-7"' in run("fidelity", "--link", "3").err
    assert run("explain", *words, "--nodes", 5, "--out", "kept").code == 0
    result = run("runs", "show", "kept", "--link", "3-7")
    assert "--link: expected nodes, as with RUN, got links (3-7)" in result.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"threshold": "0"}, "threshold: expected a number in the record, got '0'"),
        ({"threshold": True}, "threshold: expected a number in the record, got True"),
        ({"threshold": None}, "threshold: the model returns one number"),
        ({"level": "node"}, "--links: expected nodes, as with --checkpoint"),
    ],
    ids=str,
)
def test_a_record_that_others_wrote(run, linker, change, said):
    path = linker.with_suffix(".json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    result = run("explain", "--checkpoint", linker, "--links", "3-7")
    assert result.code == 1
    assert said in result.err.splitlines()[-1]


def test_a_stored_graph_is_not_split_and_its_links_carry_messages(run, linker, tmp_path):
    assert run("convert", "--dataset", "links.npz", "--out", "stored").code == 0
    words = ["--dataset", "stored", "--links", "3-7", *QUICK]
    result = run("explain", *words, "--checkpoint", linker)
    assert "--dataset: expected a graph in memory, whose links are split as in" in result.err
    (tmp_path / "my_links.py").write_text(OWN)
    words += ["--model", "my_links:Net", "--threshold", 0]
    result = run("explain", *words)
    assert "carries_messages: expected True for a stored graph" in result.err
    result = run("explain", *words, "--carries-messages")
    assert result.code == 0, result.err
    assert "unknown" in result.out


def test_cora_from_training_to_a_verified_run(run, data_dir):
    trained = run(
        *("train", "--dataset", "cora", "--model", "gcn", "--links", "--epochs", 5),
        *("--out", "linker.safetensors"),
    )
    assert trained.code == 0, trained.err
    words = ["--checkpoint", "linker.safetensors", "--max-seconds", 20]
    result = run("explain", *words, "--links", "random:4", "--out", "cora-links")
    assert result.code == 0, result.err
    assert "4 of 4 links explained, 4 of them now" in result.err
    kept = open_run("cora-links")
    assert all(e.certified for e in kept)
    test = split_links(load_named("cora"), seed=0).test
    there: dict[Any, Any] = dict(
        zip(map(tuple, test.edge_label_index.t().tolist()), test.edge_label, strict=True)
    )
    zorro = Zorro.of_links(
        restored(Path("linker.safetensors")), test.x, test.edge_index, threshold=0
    )
    for e in kept:
        assert zorro.explain(e.query.asked).selected == e.selected
        word = "link" if there[e.query.asked] else "no link"
        assert re.search(rf" {e.query.label} +(no )?link +{word} [✓✗] ", result.out)
    assert run("runs", "verify", "cora-links", "--seed", 1).code == 0


@pytest.fixture
def kept(run, linker):
    """A run of two links, in the current folder."""
    result = run("explain", "--checkpoint", linker, "--links", "1-2,3-50", *QUICK, "--out", "kept")
    assert result.code == 0, result.err
    return "kept"


def test_a_report_draws_both_ends_of_links(run, kept, made, tmp_path):
    result = run("report", kept, "--alternatives", "1")
    assert result.code == 0, result.err
    inside = re.search(r'id="data">(.*?)</script>', (tmp_path / "report.html").read_text(), re.S)
    assert inside is not None
    data = json.loads(inside[1])
    links = set(zip(*npz.read(made / "links.npz").edge_index.tolist(), strict=True))
    for u, v in ((1, 2), (3, 50)):
        (row,) = [row for row in data["rows"] if row["query"] == f"{u}-{v}"]
        assert row["truth"] == int((u, v) in links)
        scene = data["details"][f"{u}-{v}"]["scene"]
        assert [node[0] for node in scene["nodes"][:2]] == [u, v]
    assert data["labels"]["classes"] == {"0": "no link", "1": "link"}


def test_a_run_of_links_is_served_with_its_graph(kept, linker, split):
    served = _served(open_run(kept), {}, trusted=[])
    assert isinstance(served, Served)
    assert served.live
    own = Zorro.of_links(
        restored(linker), split.test.x, split.test.edge_index, threshold=0.0, **OPTIONS
    )
    assert served.desks is not None
    ours = served.desks.measuring.zorro
    asked: dict[str, Any] = {"nodes": [1, 2], "samples": 50}
    assert ours.fidelity((1, 2), **asked) == own.fidelity((1, 2), **asked)


def test_a_run_of_links_is_audited_compared_and_measured_again(run, kept, tmp_path):
    result = run("audit", kept, "-o", "audit.html", "--json", "audit.json")
    assert result.code == 0, result.err
    told = json.loads((tmp_path / "audit.json").read_text())
    assert (told["explanations"], told["has_graph"]) == (2, True)
    assert told["right"]["total"] == 2
    compared = run("compare", kept, kept, "--samples", 20)
    assert compared.code == 0, compared.err
    verified = run("runs", "verify", kept, "--samples", 50, "--seed", 1)
    assert verified.code == 0, verified.err
