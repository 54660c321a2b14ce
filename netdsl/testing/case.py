"""``Case``: one use of an operator, and what is expected of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from netdsl.ir import DType, NetDef, OperatorDef, TensorType
from netdsl.ops.formals import Formals
from netdsl.ops.schema import Operator, bound, lookup


def _arrays(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(value if isinstance(value, str) else np.asarray(value) for value in values)


@attrs.frozen(eq=False)
class Case:
    """One use of an operator.

    Args:
        op: The operator's type.
        inputs: Arrays in recorded order; a str names a blob that ``before`` makes.
        args: The arguments given.
        expect: The outputs, or a function of the inputs and the arguments (by keyword) that returns them:
            an array, or a tuple in recorded order in which None is not compared. It must be independent of
            the operator's body: another formula, in float64 where that matters.
        holds: Called with the tuples of inputs and outputs instead of comparing; for random operators.
        refuses: The operator must raise, with these words in its message; nothing else is checked.
        outputs: How many outputs the record names, or their names; the required ones by default.
        names: The blobs' names, where they matter (nested nets); formal names by default.
        before: Operators run before.
        grad: Whether gradients are checked, or the positions of the inputs that must have one; () for none at all.
        grad_outputs: Positions of the outputs through which gradients flow; every float one by default.
        step: The distance of finite differences; by default 1e-5 in float64, 1e-2 in float32. Gradients of
            half-precision inputs are checked only where it is given.
        batch: Positions of the inputs whose axis 0 may be empty.
        half: Whether half-precision inputs must give about the same.
        rtol, atol: Tolerances; half-precision outputs get one unit in the last place at least.
        label: What tells it from other cases of the operator.
        slow: Runs only where slow tests do.
    """

    op: str
    inputs: tuple[Any, ...] = attrs.field(default=(), converter=_arrays)
    args: Mapping[str, Any] = attrs.field(factory=dict)
    expect: Any = None
    holds: Callable[[tuple[Any, ...], tuple[Any, ...]], None] | None = attrs.field(default=None, kw_only=True)
    refuses: str = attrs.field(default="", kw_only=True)
    outputs: int | Sequence[str] | None = attrs.field(default=None, kw_only=True)
    names: tuple[str, ...] = attrs.field(default=(), converter=tuple, kw_only=True)
    before: tuple[OperatorDef, ...] = attrs.field(default=(), converter=tuple, kw_only=True)
    grad: bool | tuple[int, ...] = attrs.field(default=True, kw_only=True)
    grad_outputs: tuple[int, ...] | None = attrs.field(default=None, kw_only=True)
    step: float | None = attrs.field(default=None, kw_only=True)
    batch: tuple[int, ...] = attrs.field(default=(), kw_only=True)
    half: bool = attrs.field(default=True, kw_only=True)
    rtol: float = attrs.field(default=1e-5, kw_only=True)
    atol: float = attrs.field(default=1e-6, kw_only=True)
    label: str = attrs.field(default="", kw_only=True)
    slow: bool = attrs.field(default=False, kw_only=True)

    def __str__(self) -> str:
        shown = self.label or ",".join(f"{k}={v}" for k, v in self.args.items() if isinstance(v, int | float | str))
        return f"{self.op}[{shown}]" if shown else self.op

    @property
    def declared(self) -> type[Operator]:
        """The operator's declaration."""
        return lookup(self.op)

    @property
    def bound(self) -> Operator:
        """The operator with the arguments of the case."""
        return bound(self.record)

    @property
    def input_names(self) -> list[str]:
        """The name of each input blob."""
        if self.names:
            return list(self.names)
        plain = _names(self.declared.formal_inputs, len(self.inputs))
        return [i if isinstance(i, str) else name for i, name in zip(self.inputs, plain, strict=True)]

    @property
    def record(self) -> OperatorDef:
        """The operator as recorded, in place only where its declaration wants that."""
        formals, ins = self.declared.formal_outputs, self.input_names
        if isinstance(self.outputs, Sequence):
            return OperatorDef(self.op, ins, self.outputs, self.args)
        count = formals.required if self.outputs is None else self.outputs
        outs = _names(formals, count)
        for index in range(count):
            formal: Any = formals.formal_at(index, count)
            if formal.enforced is not None:
                at = self.declared.formal_inputs.first_index(formal.enforced, len(ins))
                outs[index] = outs[index] if at is None else ins[at]
        return OperatorDef(self.op, ins, outs, self.args)

    @property
    def net(self) -> NetDef:
        """A net of the operator and what runs before it."""
        return NetDef("case", [*self.before, self.record], inputs=tuple(self.feeds))

    @property
    def feeds(self) -> dict[str, np.ndarray]:
        """What to feed, by blob."""
        pairs = zip(self.input_names, self.inputs, strict=True)
        return {name: value for name, value in pairs if not isinstance(value, str)}

    @property
    def singles(self) -> list[int]:
        """Positions of the float32 inputs."""
        return [i for i, x in enumerate(self.inputs) if not isinstance(x, str) and x.dtype == np.float32]

    def accepts(self, dtype: DType) -> bool:
        """Whether there are float32 inputs, and all of them might as well be of ``dtype``."""
        formals: list[Any] = [self.declared.formal_inputs.formal_at(i, len(self.inputs)) for i in self.singles]
        return bool(formals) and all(f.dtypes.accepts(TensorType(dtype)) for f in formals)

    def with_inputs(self, change: Callable[[int, np.ndarray], np.ndarray]) -> Case:
        """The same case with every array replaced by ``change(position, array)``."""
        new = [value if isinstance(value, str) else change(i, value) for i, value in enumerate(self.inputs)]
        return attrs.evolve(self, inputs=new)

    def expected(self) -> tuple[Any, ...]:
        """The outputs expected, in recorded order."""
        result = self.expect(*self.inputs, **self.args) if callable(self.expect) else self.expect
        return result if isinstance(result, tuple) else (result,)


def _names(formals: Formals, count: int) -> list[str]:
    found: list[str] = []
    for name, place in formals.layout(count):
        if isinstance(place, slice):
            found.extend(f"{name}_{i}" for i in range(place.stop - place.start))
        elif place is not None:
            found.append(name)
    return found
