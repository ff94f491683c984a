"""GPS: attention over all nodes, beside a layer of the graph's edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch_geometric.nn as gnn
from torch import Tensor
from torch.nn import functional

from zorro.evaluation.traced.layers.attention import by_head
from zorro.evaluation.traced.layers.composition import Step, Value, composes
from zorro.evaluation.traced.plan import Plan
from zorro.evaluation.traced.rows import Projection, RowPlanner
from zorro.evaluation.traced.unserved import Unserved


@composes(gnn.GPSConv)
def _gps(layer: Any, x: Value, edge_index: Any, batch: Any = None, **kwargs: Any) -> Value:
    if not isinstance(layer.attn, torch.nn.MultiheadAttention):
        raise Unserved(f"GPSConv(attn_type={layer.attn_type!r})")
    with_batch = {"batch": batch} if layer.norm_with_batch else {}

    def normed(norm: Any, values: Value) -> Value:
        return values if norm is None else norm(values, **with_batch)

    out = normed(layer.norm2, Step("gps_attention", _over_all_nodes(layer.attn))(x, batch) + x)
    if layer.conv is not None:
        out = normed(layer.norm1, layer.conv(x, edge_index, **kwargs) + x) + out
    return normed(layer.norm3, out + layer.mlp(out))


def _over_all_nodes(attention: Any) -> Callable[..., Plan]:
    """Return how to plan multi-head attention in which each node asks all of them."""

    def plan(rows: RowPlanner, batch: Tensor | None) -> Plan:
        if batch is not None and bool((batch != batch[0]).any()):
            raise Unserved("GPSConv on a batch of several graphs")
        is_usual = attention.in_proj_weight is not None and attention.bias_k is None
        if not is_usual or attention.add_zero_attn:
            raise Unserved("GPSConv(attn_kwargs=…)")
        weights = attention.in_proj_weight.detach().t().chunk(3, dim=1)  # each (d, d)
        bias = attention.in_proj_bias
        if bias is None:
            bias = weights[0].new_zeros(3 * weights[0].size(1))
        biases = bias.detach().chunk(3)  # each (d,)
        projections = [Projection(*one) for one in zip(weights, biases, strict=True)]
        if rows.wanted.numel() * attention.num_heads <= weights[0].size(0):
            return rows.over_all([], _few_ask(attention, *projections))
        return rows.over_all(projections, _many_ask(attention))

    return plan


def _many_ask(attention: Any) -> Callable[[list[Tensor], Tensor], Tensor]:
    """Return the attention of queries, keys and values, each (N, B, d), at some rows."""

    def combine(parts: list[Tensor], wanted: Tensor) -> Tensor:
        query, key, value = (
            by_head(part, attention.num_heads).permute(1, 2, 0, 3)
            for part in (parts[0][wanted], *parts[1:])
        )  # (B, H, r, c) and twice (B, H, N, c)
        out = functional.scaled_dot_product_attention(query, key, value)
        projected: Tensor = attention.out_proj(out.permute(2, 0, 1, 3).flatten(-2))
        return projected

    return combine


def _few_ask(
    attention: Any, to_query: Projection, to_key: Projection, to_value: Projection
) -> Callable[[list[Tensor], Tensor], Tensor]:
    """Return the attention of rows themselves, (N, B, d), at a few of them.

    As q · (x W) = (q Wᵀ) · x and Σ a (x W) = (Σ a x) W, only the rows that ask are projected.
    """
    heads = attention.num_heads
    keys = by_head(to_key.weight, heads)  # (d, H, c); their bias is the same for all that are asked
    values = by_head(to_value.weight, heads)  # (d, H, c)
    scale = 1 / math.sqrt(keys.size(-1))
    query_bias, value_bias = to_query.bias, to_value.bias
    assert query_bias is not None
    assert value_bias is not None

    def combine(parts: list[Tensor], wanted: Tensor) -> Tensor:
        x = parts[0].transpose(0, 1)  # (B, N, d)
        query = x[:, wanted] @ to_query.weight + query_bias  # (B, r, d)
        asked = torch.einsum("brhc,dhc->brhd", by_head(query, heads), keys).flatten(1, 2)
        weights = (scale * torch.bmm(asked, x.transpose(1, 2))).softmax(-1)  # (B, r · H, N)
        heard = _by_row_and_head(torch.bmm(weights, x), heads)  # (B, r, H, d)
        out = torch.einsum("brhd,dhc->brhc", heard, values).flatten(-2) + value_bias
        projected: Tensor = attention.out_proj(out)
        return projected.transpose(0, 1)

    return combine


def _by_row_and_head(values: Tensor, heads: int) -> Tensor:
    """View (B, r · H, d) as (B, r, H, d)."""
    return values.view(values.size(0), -1, heads, values.size(-1))
