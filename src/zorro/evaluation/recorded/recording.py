"""A model's run as the tensor operations that it consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

# What reads numbers, or makes as many rows as the values say: another input would run otherwise.
_READS_VALUES = {
    "_local_scalar_dense",
    "item",
    "nonzero",
    "masked_select",
    "_unique2",
    "unique_dim",
    "unique_consecutive",
    "repeat_interleave",
    "bincount",
    "equal",
    "is_nonzero",
}


_BY_MASKS = {"index", "index_put", "index_put_", "_index_put_impl_"}
_LEAVE_TORCH = {"tolist", "numpy", "__array__", "__dlpack__", "data_ptr", "untyped_storage"}
# What takes no more than the shape and the type of its first argument.
_TAKES_SHAPE_ALONE = {
    "new_zeros",
    "new_ones",
    "new_full",
    "new_empty",
    "zeros_like",
    "ones_like",
    "full_like",
    "empty_like",
}


class NotRecordedError(Exception):
    """A model's run cannot be recorded; the message says why."""


@dataclass(frozen=True)
class Value:
    """A tensor that depends on the input, by the number of its place in a recording."""

    number: int


@dataclass(frozen=True)
class Operation:
    """One operation: what is called, on what, and which values come out.

    Args:
        function: an overload of torch's, out of place.
        args: values, constants and plain arguments.
        kwargs: the same, by name.
        results: the numbers of the values that come out.
        shapes: their shapes in the run that was recorded.
    """

    function: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    results: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def name(self) -> str:
        """What torch calls it, as `index_select`."""
        return str(self.function.overloadpacket.__name__)

    @property
    def read(self) -> list[int]:
        """The numbers of the values that it reads."""
        leaves, _ = tree_flatten((self.args, dict(self.kwargs)))
        return [leaf.number for leaf in leaves if isinstance(leaf, Value)]


@dataclass(frozen=True)
class Recording:
    """All operations of a run whose results depend on the input, in order.

    What does not depend on it (degrees, normalised weights, masks) stands in them as constants. The
    input is value 0.
    """

    operations: Sequence[Operation]
    output: int
    shapes: Mapping[int, tuple[int, ...]]


def record(run: Callable[[Tensor], Tensor], x: Tensor) -> Recording:
    """Return the operations of a run on features (n, d).

    Raises `NotRecordedError` where another input might take another way.
    """
    recorder = _Recorder(x)
    with torch.no_grad(), _LeavesTorch(recorder), recorder:
        output = run(x)
    return Recording(recorder.operations, recorder.number_of(output), recorder.shapes)


class _LeavesTorch(TorchFunctionMode):
    """Refuses what hands numbers to Python or NumPy past all operations.

    Args:
        recorder: knows which tensors depend on the input.
    """

    def __init__(self, recorder: _Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a function unless it leaves torch with a value."""
        name = getattr(func, "__name__", "")
        if name in _LEAVE_TORCH and args and self._recorder.depends(args[0]):
            raise NotRecordedError(f"it reads numbers that depend on the features ({name})")
        return func(*args, **(kwargs or {}))


class _Recorder(TorchDispatchMode):
    """Notes operations that depend on the input."""

    def __init__(self, x: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: list[Operation] = []
        self.shapes: dict[int, tuple[int, ...]] = {}
        self._numbers: dict[int, int] = {}  # of the values that tensors hold, by their identity
        self._held: list[Tensor] = []  # so that no identity is given twice
        self._of_storage: dict[int, list[Tensor]] = {}
        self._stale: set[int] = set()  # tensors whose memory was written to under another name
        self._note(x)

    def depends(self, value: Any) -> bool:
        """Whether something is a tensor that depends on the input."""
        return isinstance(value, Tensor) and id(value) in self._numbers

    def number_of(self, tensor: Tensor) -> int:
        """Return the number of the value that a tensor holds."""
        if id(tensor) not in self._numbers:
            raise NotRecordedError("its output does not depend on the features")
        self._refuse_stale(tensor)
        return self._numbers[id(tensor)]

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run an operation and note it if it reads a value."""
        kwargs = dict(kwargs or {})
        leaves, _ = tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        depends = any(id(tensor) in self._numbers for tensor in tensors)
        written = _written(func, args, kwargs)
        for tensor in tensors:
            if id(tensor) not in self._numbers and _place(tensor) in self._of_storage:
                raise NotRecordedError("it reads a value by another name for its memory")
        if not depends:
            return func(*args, **kwargs)
        name = func.overloadpacket.__name__
        if name in _TAKES_SHAPE_ALONE:
            return func(*args, **kwargs)
        if name in _READS_VALUES:
            raise NotRecordedError(f"it reads numbers that depend on the features ({name})")
        for tensor in tensors:
            self._refuse_stale(tensor)
        function = _out_of_place(func) if written else _for_any_layout(func)
        noted = tree_map_only(Tensor, self._as_noted, (tuple(args), kwargs))
        if name in _BY_MASKS:
            if any(self.depends(it) and it.dtype == torch.bool for it in tree_flatten(args[1])[0]):
                raise NotRecordedError(f"it picks rows by features ({name} by a mask)")
            noted = tree_map_only(Tensor, _as_places, noted)
        if written:  # constants are written to in the run, and stay as they were in the recording
            noted = tree_map_only(Tensor, Tensor.clone, noted)
        result = func(*args, **kwargs)
        if function is torch.ops.aten.reshape.default:  # −1 says nothing of no rows
            noted = ((noted[0][0], list(result.shape)), {})
        for tensor in written:
            self._forget_views(tensor)
        results = written if written else tree_flatten(result)[0]
        numbers = tuple(self._note(it) for it in results if isinstance(it, Tensor))
        shapes = tuple(self.shapes[number] for number in numbers)
        self.operations.append(Operation(function, noted[0], noted[1], numbers, shapes))
        return result

    def _as_noted(self, tensor: Tensor) -> Tensor | Value:
        number = self._numbers.get(id(tensor))
        return tensor.detach() if number is None else Value(number)

    def _note(self, tensor: Tensor) -> int:
        """Give the value that a tensor holds from now on a number."""
        number = len(self.shapes)
        self.shapes[number] = tuple(tensor.shape)
        self._numbers[id(tensor)] = number
        self._held.append(tensor)
        if _place(tensor):  # which what has no numbers has not
            self._of_storage.setdefault(_place(tensor), []).append(tensor)
        return number

    def _forget_views(self, written: Tensor) -> None:
        """Take note that other tensors on the same memory hold other values now."""
        for other in self._of_storage.get(_place(written), ()):
            if other is not written:
                self._stale.add(id(other))

    def _refuse_stale(self, tensor: Tensor) -> None:
        if id(tensor) in self._stale:
            raise NotRecordedError("it reads a tensor that was written to under another name")


def _for_any_layout(func: Any) -> Any:
    """Return an operation that also takes what does not lie in one piece, as many inputs do not."""
    is_view = func.overloadpacket.__name__ in ("view", "_unsafe_view")
    return torch.ops.aten.reshape.default if is_view else func


def _as_places(index: Tensor) -> Tensor:
    """Return the places that a mask (n,) of one dimension says; another tensor as it is."""
    return index.nonzero().flatten() if index.dtype == torch.bool and index.dim() == 1 else index


def _place(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _written(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """Return the arguments that an operation writes to."""
    found = []
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            found += [value] if isinstance(value, Tensor) else []
    return found


def _out_of_place(func: Any) -> Any:
    """Return what gives the same as an operation that writes to its first argument."""
    packet = func.overloadpacket.__name__
    twin = getattr(torch.ops.aten, packet[:-1], None) if packet.endswith("_") else None
    overload = None if twin is None else getattr(twin, func._overloadname, None)
    if overload is None:
        raise NotRecordedError(f"it writes to a tensor in a way that is not followed ({packet})")
    return overload
