"""Objects that other processes get without a copy of their tensors: these lie in mapped files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

_LEAST_BYTES = 1 << 16  # smaller tensors are sent along
# Types that NumPy has too.
_TYPES = (torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.bool)


def pack(value: object, folder: Path) -> Path:
    """Pickle a value into a file of `folder`; its larger tensors get files of their own."""
    path = folder / "packed.pickle"
    with path.open("wb") as file:
        _Packer(file, folder).dump(value)
    return path


def unpack(path: Path) -> Any:
    """Return what this process or the one that has started it has packed."""
    with path.open("rb") as file:
        return pickle.load(file)


class _Packer(pickle.Pickler):
    def __init__(self, file: BinaryIO, folder: Path) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._folder = folder
        self._files: dict[tuple[object, ...], Path] = {}

    def reducer_override(self, value: object) -> Any:
        if not _is_worth_a_file(value):
            return NotImplemented  # pickle's word for "as usual"
        assert isinstance(value, Tensor)
        place = (value.data_ptr(), value.dtype, value.shape, value.stride())
        if place not in self._files:
            self._files[place] = self._folder / f"{len(self._files)}.npy"
            np.save(self._files[place], value.detach().numpy(), allow_pickle=False)
        return mapped, (str(self._files[place]),)


def mapped(path: str) -> Tensor:
    """Return a tensor that lies in a file; what is written to it stays with the writer."""
    return torch.from_numpy(np.load(path, mmap_mode="c", allow_pickle=False))


def _is_worth_a_file(value: object) -> bool:
    return (
        type(value) is Tensor
        and value.layout == torch.strided
        and value.device.type == "cpu"
        and value.dtype in _TYPES
        and value.is_contiguous()
        and not value.requires_grad
        and value.numel() * value.element_size() >= _LEAST_BYTES
    )
