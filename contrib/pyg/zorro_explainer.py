import logging
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import torch
from torch import Tensor

from torch_geometric.data import Data
from torch_geometric.explain import Explanation
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import (
    MaskType,
    ModelMode,
    ModelReturnType,
    ModelTaskLevel,
)
from torch_geometric.typing import EdgeType, NodeType
from torch_geometric.utils import k_hop_subgraph


class ZorroExplainer(ExplainerAlgorithm):
    r"""The Zorro explainer from the `"Zorro: Valid, Sparse, and Stable
    Explanations in Graph Neural Networks"
    <https://doi.org/10.1109/TKDE.2022.3201170>`_ paper for finding a small
    set of nodes :math:`\mathcal{V}_s` and features :math:`\mathcal{F}_s` that
    a prediction rests on.

    A set is good if the prediction stays although everything outside of it is
    replaced by random values.
    How often it stays is the *RDT-fidelity* of the set

    .. math::
        F(\mathcal{V}_s, \mathcal{F}_s) = \mathbb{P}_{\mathbf{Z}} \left[
        f(\mathbf{X} \odot \mathbf{M} + \mathbf{Z} \odot (1 - \mathbf{M})) =
        f(\mathbf{X}) \right], \quad
        \mathbf{M}_{v,i} = 1 \Leftrightarrow v \in \mathcal{V}_s \wedge
        i \in \mathcal{F}_s

    where each entry of :math:`\mathbf{Z}` is drawn on its own from the values
    of its column.
    Starting from nothing, the search adds in each step the node or feature
    that raises the share of kept predictions most, until this share is
    greater than :obj:`tau`.
    If several outputs are explained at once, the prediction stays if all of
    them do.

    The result is a hard mask.
    With :obj:`node_mask_type="object"` all features of the selected nodes are
    kept, and with :obj:`node_mask_type="common_attributes"` the selected
    features of all nodes, so that the fidelity is always the one of the mask
    that is returned.
    The returned explanation tells in addition:

    * :obj:`rdt_fidelity`: The share of kept predictions on noise that the
      search has not seen. The share that the search itself has seen is too
      high in general, and not reported.
    * :obj:`rdt_fidelity_bound`: The exact (Clopper-Pearson) lower confidence
      bound of the fidelity which follows from it.
    * :obj:`certified`: Whether this bound is at least :obj:`tau`.

    .. note::

        A :obj:`"phenomenon"` is explained as long as the model predicts it:
        nothing keeps a model at a class that it does not predict.

    Args:
        tau (float, optional): The search ends once the share of kept
            predictions is greater than this value. (default: :obj:`0.85`)
        num_samples (int, optional): The number of noise samples on which the
            search compares sets. (default: :obj:`100`)
        top_k (int, optional): The number of nodes, and of features, that are
            tried in each step: those that are best by themselves among the
            ones which are not selected yet. If set to :obj:`None`, will try
            all of them. (default: :obj:`10`)
        num_test_samples (int, optional): The number of further noise samples
            on which the fidelity of the result is measured.
            (default: :obj:`1000`)
        confidence (float, optional): The confidence of
            :obj:`rdt_fidelity_bound`. (default: :obj:`0.95`)
        background (torch.Tensor, optional): A feature matrix with the columns
            that noise is drawn from, *e.g.*, the one of all graphs of a
            dataset. If set to :obj:`None`, will use the features that are
            explained, which says little for a single small graph.
            (default: :obj:`None`)
        batch_size (int, optional): The number of noise samples for which the
            model is called at once, on disjoint copies of the graph.
            (default: :obj:`100`)
        seed (int, optional): The seed of the noise. (default: :obj:`0`)
    """
    def __init__(
        self,
        tau: float = 0.85,
        num_samples: int = 100,
        top_k: Optional[int] = 10,
        num_test_samples: int = 1000,
        confidence: float = 0.95,
        background: Optional[Tensor] = None,
        batch_size: int = 100,
        seed: int = 0,
    ):
        super().__init__()

        for name, value in [('tau', tau), ('confidence', confidence)]:
            if not 0.0 < value < 1.0:
                raise ValueError(
                    f"'{name}' needs to be between 0 and 1 (got {value})")
        for name, count in [
            ('num_samples', num_samples),
            ('num_test_samples', num_test_samples),
            ('batch_size', batch_size),
            ('top_k', 1 if top_k is None else top_k),
        ]:
            if count < 1:
                raise ValueError(
                    f"'{name}' needs to be positive (got {count})")

        self.tau = tau
        self.num_samples = num_samples
        self.top_k = top_k
        self.num_test_samples = num_test_samples
        self.confidence = confidence
        self.background = background
        self.batch_size = batch_size
        self.seed = seed

    @torch.no_grad()
    def forward(
        self,
        model: torch.nn.Module,
        x: Union[Tensor, Dict[NodeType, Tensor]],
        edge_index: Union[Tensor, Dict[EdgeType, Tensor]],
        *,
        target: Tensor,
        index: Optional[Union[int, Tensor]] = None,
        **kwargs: Any,
    ) -> Explanation:
        if isinstance(x, dict) or isinstance(edge_index, dict):
            raise ValueError(f'Heterogeneous graphs not supported in '
                             f"'{self.__class__.__name__}'")

        graph = _Graph(model, x, edge_index, kwargs)
        target = target.view(-1)
        if index is None:
            index = torch.arange(target.numel())
        index = torch.as_tensor(index, device=target.device).view(-1)
        self._check_target(graph(x[None]), target, index)

        noise = _Noise(x if self.background is None else self.background.to(x),
                       self.seed)
        graph, nodes, candidates, rows = self._cut(graph, noise, index)
        samples = noise.draw(self.num_samples, graph.num_nodes)
        graph.join_if_same(noise.draw(3, graph.num_nodes), self.batch_size)

        def count_hits(node_mask: Tensor, feat_mask: Tensor,
                       samples: Tensor) -> int:
            mask = node_mask[:, None] & feat_mask
            hits = 0
            for chunk in samples.split(self.batch_size):
                out = graph(torch.where(mask, graph.x, chunk))
                hit = self._get_answers(out)[:, rows] == target[index]
                hits += int(hit.all(dim=1).sum())
            return hits

        node_mask, feat_mask = self._search(count_hits, samples, candidates)

        hits, num_left = 0, self.num_test_samples
        while num_left > 0:
            samples = noise.draw(min(self.batch_size, num_left),
                                 graph.num_nodes)
            hits += count_hits(node_mask, feat_mask, samples)
            num_left -= samples.size(0)
        bound = _lower_bound(hits, self.num_test_samples, self.confidence)

        return Explanation(
            node_mask=self._to_mask(nodes, node_mask, feat_mask),
            rdt_fidelity=hits / self.num_test_samples,
            rdt_fidelity_bound=bound,
            certified=bound >= self.tau,
        )

    def supports(self) -> bool:
        if self.model_config.mode == ModelMode.regression:
            logging.error(f"'{self.__class__.__name__}' does not support "
                          f'regression: it explains why a class stays')
            return False

        if (self.explainer_config.edge_mask_type is not None
                or self.explainer_config.node_mask_type is None):
            logging.error(
                f"'{self.__class__.__name__}' only supports node masks")
            return False

        return True

    def _search(
        self,
        count_hits: Callable[[Tensor, Tensor, Tensor], int],
        samples: Tensor,
        candidates: Tensor,
    ) -> Tuple[Tensor, Tensor]:
        r"""Grows a set greedily (Algorithm 1 of the paper), and returns the
        masks of its nodes and of its features.
        """
        everything = {
            'feat': candidates.new_ones(samples.size(-1)),
            'node': candidates,
        }
        selected = {key: torch.zeros_like(m) for key, m in everything.items()}
        mask_type = self.explainer_config.node_mask_type
        if mask_type == MaskType.object:
            selected['feat'] = everything.pop('feat')
        elif mask_type == MaskType.common_attributes:
            selected['node'] = torch.ones_like(everything.pop('node'))

        def hits_with(key: str, i: int, masks: Dict[str, Tensor]) -> int:
            masks = {**masks, key: masks[key].clone()}
            masks[key][i] = True
            return count_hits(masks['node'], masks['feat'], samples)

        enough = self.tau * self.num_samples
        if count_hits(selected['node'], selected['feat'], samples) > enough:
            return selected['node'], selected['feat']

        # Rank each node together with all features, and each feature together
        # with all nodes. Ties are won by features, and by lower indices:
        remaining: Dict[str, List[int]] = {}
        best = (-1, '', -1)  # Hits, what is added and which one.
        for key, mask in everything.items():
            masks = {**selected, **everything, key: selected[key]}
            ranking = [(hits_with(key, i, masks), key, i)
                       for i in mask.nonzero().view(-1).tolist()]
            ranking.sort(key=lambda choice: -choice[0])
            remaining[key] = [i for _, _, i in ranking]
            best = max([best, *ranking[:1]], key=lambda choice: choice[0])

        while best[0] >= 0:
            _, key, i = best
            selected[key][i] = True
            remaining[key].remove(i)
            if (count_hits(selected['node'], selected['feat'], samples)
                    > enough):
                break
            best = (-1, '', -1)
            for key in remaining:
                if not selected['node' if key == 'feat' else 'feat'].any():
                    continue  # Would still keep nothing.
                for i in sorted(remaining[key][:self.top_k]):
                    choice = (hits_with(key, i, selected), key, i)
                    best = max(best, choice, key=lambda choice: choice[0])

        return selected['node'], selected['feat']

    def _cut(
        self,
        graph: '_Graph',
        noise: '_Noise',
        index: Tensor,
    ) -> Tuple['_Graph', Tensor, Tensor, Tensor]:
        r"""Returns the part of the graph that determines the outputs of nodes,
        a mask of its nodes, a mask of the candidates within the part, and the
        rows of the outputs. Without such a part, this is the whole graph.

        Candidates are the nodes in reach of message passing. The part has one
        hop more, since the degrees of the outermost candidates count as well.
        """
        everything = graph.x.new_ones(graph.num_nodes, dtype=torch.bool)
        whole = (graph, everything, everything, index)
        if (self.model_config.task_level != ModelTaskLevel.node
                or not graph.can_be_cut()):
            return whole

        num_hops = self._num_hops(graph.model)
        masks = []
        for hops in [num_hops, num_hops + 1]:
            nodes = k_hop_subgraph(
                index.to(graph.x.device),
                hops,
                graph.data.edge_index,
                num_nodes=graph.num_nodes,
                flow=self._flow(graph.model),
            )[0]
            masks.append(torch.zeros_like(everything))
            masks[-1][nodes] = True
        candidates, part = masks
        if part.all():
            return whole

        # Layers may look further than one hop each, or at the whole graph.
        # Verify that the part gives the outputs of the whole graph, and that
        # nothing but the candidates counts for them:
        small, rows = graph.subgraph(part), part.cumsum(0)[index] - 1
        xs = torch.cat([graph.x[None], noise.draw(3, graph.num_nodes)])
        kept = torch.where(candidates[:, None], graph.x, xs)
        try:
            out = small(xs[:, part])[:, rows]
        except Exception:  # The model cannot be called with this part.
            return whole
        if not _is_close(out, graph(xs)[:, index]):
            return whole
        if not _is_close(graph(kept)[:, index], out[:1]):
            return whole
        return small, part, candidates[part], rows

    def _check_target(
        self,
        out: Tensor,
        target: Tensor,
        index: Tensor,
    ) -> None:
        answers = self._get_answers(out)[0]
        if answers.size() != target.size():
            raise ValueError(f"Expected one class for each output in 'target' "
                             f'(got {target.numel()} classes for '
                             f'{answers.numel()} outputs)')
        wrong = index[answers[index] != target[index]].tolist()
        if len(wrong) > 0:
            raise ValueError(f"'{self.__class__.__name__}' can only explain "
                             f'what the model predicts, but it predicts other '
                             f"classes than 'target' for the outputs {wrong}")

    def _get_answers(self, out: Tensor) -> Tensor:
        r"""Returns the predicted classes :obj:`[num_samples, num_outputs]`."""
        if self.model_config.mode == ModelMode.multiclass_classification:
            return out.argmax(dim=-1)
        is_raw = self.model_config.return_type == ModelReturnType.raw
        return (out > (0.0 if is_raw else 0.5)).long().flatten(1)

    def _to_mask(
        self,
        nodes: Tensor,
        node_mask: Tensor,
        feat_mask: Tensor,
    ) -> Tensor:
        mask = torch.zeros(nodes.numel(), 1, device=nodes.device)
        mask[nodes, 0] = node_mask.float()
        mask_type = self.explainer_config.node_mask_type
        if mask_type == MaskType.object:
            return mask
        if mask_type == MaskType.common_attributes:
            return feat_mask[None].float()
        return mask * feat_mask.float()


class _Noise:
    r"""Draws feature matrices, each entry from its own column."""
    def __init__(self, background: Tensor, seed: int):
        self.background = background
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self, num_samples: int, num_nodes: int) -> Tensor:
        num_rows, num_features = self.background.size()
        rows = torch.randint(
            num_rows,
            (num_samples * num_nodes, num_features),
            generator=self.generator,
        )
        out = self.background.gather(0, rows.to(self.background.device))
        return out.view(num_samples, num_nodes, num_features)


class _Graph:
    r"""A graph whose model is called with several versions of its features
    :obj:`[num_samples, num_nodes, num_features]`.

    As soon as this is known to give the same outputs, all versions are joined
    as disjoint graphs, and the model is called once.
    """
    def __init__(
        self,
        model: torch.nn.Module,
        x: Tensor,
        edge_index: Tensor,
        kwargs: Dict[str, Any],
    ):
        tensors = {
            key: value
            for key, value in kwargs.items()
            if isinstance(value, Tensor) and value.dim() > 0
        }
        self.model = model
        self.data = Data(x=x, edge_index=edge_index, **tensors)
        self.keys = ['edge_index', *tensors]
        self.kwargs = kwargs
        self.max_joined = 1
        # The inputs of the model besides features, by number of graphs:
        self.joined: Dict[int, Tuple[Tensor, Dict[str, Any]]] = {}

    @property
    def x(self) -> Tensor:
        return self.data.x

    @property
    def num_nodes(self) -> int:
        return self.data.x.size(0)

    def is_cached(self) -> bool:
        # Layers that remember one graph must not be called with another one.
        return any(getattr(m, 'cached', False) for m in self.model.modules())

    def can_be_cut(self) -> bool:
        return not self.is_cached() and all(
            self.data.is_node_attr(key) or self.data.is_edge_attr(key)
            for key in self.keys)

    def subgraph(self, nodes: Tensor) -> '_Graph':
        data = self.data.subgraph(nodes)
        kwargs = {
            key: data[key] if key in self.keys else value
            for key, value in self.kwargs.items()
        }
        return _Graph(self.model, data.x, data.edge_index, kwargs)

    def __call__(self, xs: Tensor) -> Tensor:
        outs = []
        for chunk in xs.split(self.max_joined):
            edge_index, inputs = self._join(chunk.size(0))
            out = self.model(chunk.flatten(0, 1), edge_index, **inputs)
            outs.append(out.view(chunk.size(0), -1, *out.size()[1:]))
        return torch.cat(outs)

    def join_if_same(self, xs: Tensor, max_joined: int) -> None:
        if self.is_cached():
            return
        expected = self(xs)
        self.max_joined = xs.size(0)
        try:
            same = _is_close(self(xs), expected)
        except Exception:  # The model cannot be called with several graphs.
            same = False
        self.max_joined = max_joined if same else 1

    def _join(self, num_graphs: int) -> Tuple[Tensor, Dict[str, Any]]:
        if num_graphs not in self.joined:
            inputs = {**self.kwargs, 'edge_index': self.data.edge_index}
            for key in self.keys if num_graphs > 1 else []:
                value = inputs[key]
                inc = self.data.__inc__(key, value)
                inputs[key] = torch.cat(
                    [
                        value + i * inc if inc else value
                        for i in range(num_graphs)
                    ],
                    dim=self.data.__cat_dim__(key, value),
                )
            self.joined[num_graphs] = (inputs.pop('edge_index'), inputs)
        return self.joined[num_graphs]


def _is_close(out: Tensor, expected: Tensor) -> bool:
    if out.size()[1:] != expected.size()[1:]:
        return False
    return torch.allclose(out, expected.expand_as(out), rtol=1e-4, atol=1e-5)


def _lower_bound(hits: int, num_samples: int, confidence: float) -> float:
    r"""Returns the probability :math:`p` at which as many hits, or more, are
    seen with probability :obj:`1 - confidence`.
    """
    if hits == 0:
        return 0.0
    k = torch.arange(hits, num_samples + 1, dtype=torch.double)
    n = torch.tensor(num_samples, dtype=torch.double)
    log_choose = (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()
    low, high = 0.0, 1.0
    for _ in range(50):
        p = torch.tensor((low + high) / 2, dtype=torch.double)
        log_pmf = log_choose + k * p.log() + (n - k) * (-p).log1p()
        if log_pmf.logsumexp(0).exp() > 1.0 - confidence:
            high = float(p)
        else:
            low = float(p)
    return low
