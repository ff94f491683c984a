"""Models that the command line has trained, back from their files."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from zorro.models import build, checkpoint


def restored(path: Path) -> nn.Module:
    """Return the model in a file, built as the record beside it says."""
    record = checkpoint.read_record(path)
    model = build(
        record["architecture"],
        record["in_channels"],
        record["out_channels"],
        level=record.get("level", "node"),
        **record.get("options", {}),
    )
    checkpoint.load(model, path)
    return model.eval()
