"""Models whose gradient fails are searched without one; models that have one stay as they are."""

from typing import Any

import pytest
import torch
import torch_geometric.nn as gnn
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch_geometric.explain import Explainer

from zorro import Zorro
from zorro.errors import ModelError
from zorro.methods import Subjects, build
from zorro.model.failures import backward_passes
from zorro.pyg import ZorroExplainer

NODES, FEATURES, HIDDEN, CLASSES = 20, 6, 8, 3
QUERY = 3
# In training mode, as they are after it: a backward pass that runs layers again is not to.
QUICK: dict[str, Any] = {"samples": 50, "fresh_samples": 200, "tau": 0.9}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.first, self.last = (
            gnn.SAGEConv(FEATURES, HIDDEN),
            nn.Linear(HIDDEN, CLASSES, bias=False),
        )
        self.norm = nn.BatchNorm1d(HIDDEN)

    def hidden(self, x, edge_index):
        return self.norm(self.first(x, edge_index)).relu()

    def forward(self, x, edge_index):
        return 3 * self.last(self.hidden(x, edge_index))


class Deep(Net):
    """PyG's layer with its own checkpoints, which are reentrant."""

    def __init__(self) -> None:
        super().__init__()
        conv = gnn.SAGEConv(HIDDEN, HIDDEN)
        self.deep = gnn.DeepGCNLayer(conv, self.norm, nn.ReLU(), block="res+", ckpt_grad=True)

    def hidden(self, x, edge_index):
        return self.deep(self.first(x, edge_index), edge_index)


class Reentrant(Net):
    def forward(self, x, edge_index):
        return 3 * self.last(checkpoint(self.hidden, x, edge_index, use_reentrant=True))


class Recomputed(Net):
    """Its backward pass runs layers again, batch norm among them, and succeeds."""

    def forward(self, x, edge_index):
        return 3 * self.last(checkpoint(self.hidden, x, edge_index, use_reentrant=False))


class LeavesTorch(Net):
    """Fails in the forward pass where a gradient is asked for."""

    def hidden(self, x, edge_index):
        return torch.from_numpy(super().hidden(x, edge_index).numpy())


class WithoutDerivative(Net):
    """Nobody wrote the derivative of its last function, which is traced."""

    def forward(self, x, edge_index):
        return torch.special.zeta(super().forward(x, edge_index).sigmoid() + 2, 1.0)


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, error: BaseException) -> torch.Tensor:
        ctx.error = error
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *of_output: torch.Tensor) -> Any:
        raise ctx.error


class RaisesWhenBackward(Net):
    def __init__(self, error: BaseException | None = None) -> None:
        super().__init__()
        self.error = IndexError("none") if error is None else error

    def forward(self, x, edge_index):
        return Fails.apply(super().forward(x, edge_index), self.error)


FAILING = [Deep, Reentrant, LeavesTorch, WithoutDerivative, RaisesWhenBackward]


class Detached(nn.Module):
    """A model's scores without a gradient."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x, edge_index):
        with torch.no_grad():
            return self.model(x, edge_index)


@pytest.fixture
def graph():
    torch.manual_seed(0)
    edge_index = torch.randint(0, NODES, (2, 50))
    return torch.randn(NODES, FEATURES), torch.cat([edge_index, edge_index.flip(0)], dim=1)


@pytest.mark.parametrize("keep", [("nodes", "features"), ("edges",)])
@pytest.mark.parametrize("model", FAILING)
def test_the_set_is_that_of_the_model_without_a_gradient(graph, model, keep):
    options = {**QUICK, "keep": keep, "evaluator": "any-model"}
    found = Zorro(model(), *graph, **options).explain(QUERY)
    expected = Zorro(Detached(model()), *graph, **options).explain(QUERY)
    assert found.status in ("certified", "nothing needed")
    if keep == ("nodes", "features"):  # the gradients of edges' messages do not pass these layers
        assert found.selected == expected.selected


def test_a_traced_model_without_a_derivative_stays_traced(graph):
    found = Zorro(WithoutDerivative(), *graph, **QUICK).explain(QUERY)
    assert found.evaluator == "traced"
    assert found.status == "certified"


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("full"), TimeoutError("late"), KeyboardInterrupt(), Exception("late")],
    ids=lambda error: type(error).__name__,
)
def test_what_is_no_word_of_the_models_backward_pass_is_raised_on(graph, error):
    zorro = Zorro(RaisesWhenBackward(error), *graph, evaluator="any-model", **QUICK)
    with pytest.raises(type(error)) as raised:
        zorro.explain(QUERY)
    assert raised.value is error


@pytest.mark.parametrize("evaluator", ["traced", "any-model"])
def test_layers_that_a_backward_pass_runs_again_are_in_eval_mode(graph, evaluator):
    model = Recomputed().train()
    assert model.norm.running_mean is not None
    mean = model.norm.running_mean.clone()
    found = Zorro(model, *graph, evaluator=evaluator, **QUICK).explain(QUERY)
    expected = Zorro(Net(), *graph, evaluator=evaluator, **QUICK).explain(QUERY)
    assert found.status == "certified"
    assert (found.selected, found.steps) == (expected.selected, expected.steps)
    assert torch.equal(model.norm.running_mean, mean)
    assert model.training


@pytest.mark.parametrize("name", ["grad", "grad-input", "soft-zorro", "gnnexplainer"])
def test_methods_that_need_a_gradient_say_so(graph, name):
    subjects = Subjects(RaisesWhenBackward(), *graph)
    every: dict[str, dict[str, Any]] = {
        "soft-zorro": {"noise": subjects.noise, "epochs": 2},
        "gnnexplainer": {"epochs": 2},
    }
    options = every.get(name, {})
    with pytest.raises(ModelError, match=r"gives no gradient, .* raised IndexError: none"):
        build(name, **options).explain(subjects.of(QUERY))


def test_a_failure_beside_a_backward_pass_is_raised_as_it_is():
    with pytest.raises(ValueError, match="another"), backward_passes():
        raise ValueError("another")


def test_pygs_explainer_gets_a_mask(graph):
    explainer = Explainer(
        Deep(),
        ZorroExplainer(**QUICK),
        explanation_type="model",
        node_mask_type="attributes",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "raw",
        },
    )
    mask = explainer(*graph, index=QUERY).node_mask
    found = Zorro(Deep(), *graph, **QUICK).explain(QUERY)
    assert torch.equal(mask, found.node_mask())
