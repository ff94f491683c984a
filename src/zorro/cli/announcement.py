"""What is said of the tensors that a data set has for its edges."""

from __future__ import annotations

from collections.abc import Sequence

from zorro.cli import terminal
from zorro.models import EdgeInputs


def announce(inputs: EdgeInputs, *, trained_with: Sequence[str] | None = None) -> None:
    """Say on stderr what becomes of the graph's edge-level tensors, if it has any.

    Args:
        inputs: of the model.
        trained_with: names of those with which it was trained, None if that is not known.
    """
    if text := str(inputs):
        terminal.messages.print(text, markup=False)
    if trained_with is not None and set(trained_with) != set(inputs.passed):
        before = ", ".join(trained_with) or "none of edge_weight, edge_attr, edge_type"
        now = ", ".join(inputs.passed) or "none"
        terminal.messages.print(
            f"zorro: note: the model was trained with {before}, and gets {now} now", markup=False
        )
