"""Small elementwise operators for tests of the tracer, and a plain interpreter to compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from netdsl.ir import DType, TensorType
from netdsl.ops.schema import OPERATORS, In, Operator, Out, operator
from netdsl.runtime import backends
from netdsl.runtime.binding import bind_plainly
from netdsl.runtime.blocks import BLOCK, Blocks
from netdsl.runtime.groups import Call, Group
from netdsl.runtime.memory import Arena, Budget

Step = tuple[Operator, tuple[str, ...], tuple[str, ...]]
Arrays = dict[str, np.ndarray]


def formula(
    inputs: int | Sequence[In], outputs: int = 1, **attributes: Any
) -> Callable[[Callable[..., Any]], Operator]:
    """Make the decorated function ``f(xp, *arrays)`` the body of an operator, outside the registry."""
    ins = tuple(In(f"I{i}") for i in range(inputs)) if isinstance(inputs, int) else tuple(inputs)
    outs = tuple(Out(f"O{i}") for i in range(outputs))

    def declare(function: Callable[..., Any]) -> Operator:
        body = {
            "__doc__": function.__name__,
            "__module__": __name__,
            "inputs": ins,
            "outputs": outs,
            "elementwise": True,
            "compute": lambda self, xp, *arrays: function(xp, *arrays),
            **attributes,
        }
        made = operator(type(f"Formula_{function.__name__}", (Operator,), body))
        del OPERATORS[made.__name__]
        return made.bind({})

    return declare


def bind(group: Group, arrays: Mapping[str, np.ndarray], block: int = BLOCK) -> list[Call]:
    """The calls that run a group on these arrays, in blocks of so many elements, or plainly where they overlap."""
    own = {name: arrays[name] for name in group.buffers}
    if backends.get("numpy").group(group).make(own, group.shape, ARENA.begin()) is None:
        return bind_plainly(group, own, group.shape, backends.get("numpy"), ARENA)
    return Blocks(group.graph, group.outputs, group.size).bind(own, group.shape, ARENA.begin(), block)


ARENA = Arena(Budget(1 << 40))


def types_of(arrays: Mapping[str, np.ndarray]) -> dict[str, TensorType]:
    return {k: TensorType(DType(a.dtype.name), a.shape) for k, a in arrays.items()}


def run_plain(steps: Iterable[Step], arrays: Arrays, xp: Any = None) -> None:
    """Every body on whole arrays; what exists with the same type is overwritten in place."""
    xp = xp or backends.get("numpy").xp
    with np.errstate(all="ignore"):
        for op, ins, outs in steps:
            result = op.compute(xp, *op.formal_inputs.group([arrays[k] for k in ins]))  # type: ignore[attr-defined]
            values = [np.array(v) for v in op.formal_outputs.results(result, len(outs))]
            for k, v in zip(outs, values, strict=True):
                if k in arrays and (arrays[k].dtype, arrays[k].shape) == (v.dtype, v.shape):
                    arrays[k][...] = v
                else:
                    arrays[k] = v


def cut(steps: Sequence[Step], types: Mapping[str, TensorType]) -> list[Group | Step]:
    """Groups as long as they get; what can join none stays a step."""
    parts: list[Group | Step] = []
    group = Group()
    for step in steps:
        if group.try_add(*step, types):
            continue
        if len(group):
            parts.append(group)
        group = Group()
        if not group.try_add(*step, types):
            parts.append(step)
    return [*parts, group] if len(group) else parts


def run_parts(parts: Sequence[Group | Step], arrays: Arrays, block: int) -> None:
    with np.errstate(all="ignore"):
        for part in parts:
            if isinstance(part, Group):
                for function, args in bind(part, arrays, block):
                    function(*args)
            else:
                run_plain([part], arrays)


def assert_same(a: np.ndarray, b: np.ndarray, name: str = "") -> None:
    """Equal bit by bit, except the payload of NaNs."""
    assert (a.dtype, a.shape) == (b.dtype, b.shape), name
    if a.dtype.kind == "f":
        nan = np.isnan(a)
        np.testing.assert_array_equal(nan, np.isnan(b), err_msg=name)
        bits = f"u{a.dtype.itemsize}"
        a, b = np.where(nan, 0, a.view(bits)), np.where(nan, 0, b.view(bits))
    np.testing.assert_array_equal(a, b, err_msg=name)


def check(
    steps: Sequence[Step],
    arrays: Arrays,
    *,
    keep: Iterable[str] | None = None,
    groups: int | None = None,
    runs: int = 2,
    block: int = 1000,
) -> Arrays:
    """Run plainly and in groups, ``runs`` times over, and compare what is kept (None: everything)."""
    plain = {k: a.copy() for k, a in arrays.items()}
    run_plain(steps, plain)
    types = types_of(plain)
    parts = cut(steps, types)
    assert groups is None or len(parts) == groups, parts
    stored = set(types) if keep is None else {*keep, *arrays}
    for part in parts:
        if isinstance(part, Group):
            part.finish(stored)
    own = {k: a.copy() for k, a in arrays.items()}
    own |= {k: np.zeros_like(plain[k]) for k in stored if k not in own}
    buffers = dict(own)
    run_parts(parts, own, block)
    for _ in range(runs - 1):
        run_plain(steps, plain)
        run_parts(parts, own, block)
    for k in stored:
        assert own[k] is buffers[k]
        assert_same(own[k], plain[k], k)
    return own


SPECIAL = np.array(
    [
        *(0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan),
        *(1e-8, -6e-8, 5.96e-8, 6.1e-5, 65504, 65519.99, 65520, 1e-40, -1e-45, 3e38, 2049, 2051),
    ],
    "f4",
)


def full(shape: int | tuple[int, ...], seed: int = 0, scale: float = 1.0, dtype: str = "f4") -> np.ndarray:
    """Normal numbers with special values sprinkled among them."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape) * scale
    flat = a.reshape(-1)
    flat[rng.permutation(flat.size)[: flat.size // 8]] = rng.choice(SPECIAL, flat.size // 8)
    with np.errstate(all="ignore"):
        return a.astype("f4").astype(dtype)
