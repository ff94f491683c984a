"""Are what tables give and what their program gives the same?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, fx

from zorro.evaluation.traced.presence import Presence
from zorro.evaluation.traced.program import Program
from zorro.evaluation.traced.tables import Known, Tables
from zorro.evaluation.traced.unserved import Unserved, unless_it_fails
from zorro.model.model_state import undisturbed
from zorro.model.predictor import Predictor

_COMPARED = 30  # inputs


def tables_of(
    program: Program,
    predictor: Predictor,
    states: Mapping[fx.Node, Tensor],
    presence_of: Callable[[Tensor], Presence],
    read: Callable[[Tensor], Tensor],
    *,
    edges: int,
    memory: int,
) -> Tables | None:
    """Return tables of a program's first layers, None if none pays or scores are others with them.

    They are compared on inputs with all edges, with none, and with half of them, at random.

    Args:
        program: compared with its model already.
        predictor: the model.
        states: (q, h), each entry's in all inputs.
        presence_of: edges of inputs (B, m), as the program takes them.
        read: gives the scores (B, C) of a program's output.
        edges: how many there are.
        memory: bytes that a table may take.
    """
    device = next(iter(states.values())).device
    draw = torch.Generator().manual_seed(0)
    present = torch.rand(_COMPARED + 2, edges, generator=draw).to(device) < 0.5
    present[0], present[1] = True, False
    of_inputs = {
        node: state.unsqueeze(1).repeat(1, len(present), 1) for node, state in states.items()
    }

    def tried() -> tuple[Tables, Tensor, Tensor] | None:
        tables = program.tabulated(states, memory=memory)
        if len(tables) == 0:
            return None
        with undisturbed(predictor.model), torch.no_grad():
            copies = {node: state.clone() for node, state in of_inputs.items()}  # may be written to
            theirs = read(program.run(copies, presence=presence_of(present)))
            known = Known(tables, present)
            ours = read(program.run(of_inputs, presence=presence_of(present), known=known))
        return tables, ours, theirs

    try:
        found = unless_it_fails(tried)
    except Unserved:
        return None
    if found is None:
        return None
    tables, ours, theirs = found
    if not predictor.same(ours, theirs):
        return None
    off = (ours - theirs).abs().amax(-1) / (1 + theirs.abs().amax(-1))
    tables.deviation = float(off.nan_to_num(0.0).max())
    return tables
