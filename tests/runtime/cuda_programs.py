"""Programs whose groups the tests of CUDA source compile, and the source of a whole kernel around them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from netdsl.ops.primitives import PRIMITIVES
from netdsl.runtime.cuda_source import Kernel, c_name, kernels
from netdsl.runtime.groups import Group
from tests.runtime import primitives
from tests.runtime import test_groups as ops
from tests.runtime.formulas import Arrays, Step, cut, formula, full, run_plain, types_of


@formula(2, 2)
def shifts(xp, a, b):
    return a << b, a >> b


@formula(3)
def masks(xp, a, b, c):
    return xp.logical_or(xp.logical_and(a > b, ~(b >= c)), xp.logical_not(a == c)) ^ (a != b) & (b <= c) | (a < c)


@formula(1)
def constants(xp, x):
    wide = xp.minimum(xp.maximum(x, -xp.inf), xp.inf) + xp.where(x > 1e38, xp.nan, -0.0)
    return wide + xp.float64(0.1) * xp.float32(3e-45)


@formula(1)
def integers(xp, x):
    return abs(-x * 2147483647 + x - 5) * (x - (-2147483648))


@formula(1)
def exact(xp, x):
    return xp.sqrt(abs(x)) / (x + 3)


def rounds_alike(group: Group) -> bool:
    """Whether every library computes the same bits."""
    return not any(node.op in PRIMITIVES and PRIMITIVES[node.op].kind == "inexact" for node in group.graph.nodes)


def programs(n: int) -> Iterator[tuple[str, list[Step], Arrays]]:
    """Give named programs with their input arrays."""
    one = {"lr": np.array([0.1], "f4"), "it": np.array([7], "i8")}
    yield "chain", ops.CHAIN, {"x": full(n), "y": full(n, 1)}
    for nesterov, single in itertools.product([False, True], repeat=2):
        arrays = {"g": full(n, 2, 0.01, "f2"), "m": full(n, 3, 0.1, "f2"), "p": full(n, 4, 1, "f2"), "lr": one["lr"]}
        step = (ops.half_update(nesterov, single), ("g", "m", "lr", "p"), ("g", "m", "p"))
        yield f"half_update_{nesterov}_{single}".lower(), [step], arrays
    arrays = {"p": full(n), "m": full(n, 1, 0.1), "v": abs(full(n, 2, 0.1)), "g": full(n, 3, 0.1), **one}
    yield "adam", [(ops.adam, ("p", "m", "v", "g", "lr", "it"), ("p", "m", "v"))], arrays
    yield "swap", [(ops.swap, ("x", "y"), ("x", "y"))], {"x": full(n), "y": full(n, 1)}
    yield "views", [(ops.bits, ("x",), ("b",)), (ops.negative, ("x",), ("x",))], {"x": full(n)}
    for dtype in ("f2", "f4", "f8"):
        yield f"constants_{dtype}", [(constants, ("x",), ("y",))], {"x": full(n, 5, 1, dtype)}
        yield f"exact_{dtype}", [(exact, ("x",), ("y",))], {"x": full(n, 6, 1, dtype)}
        arrays = {k: full(n, i, 1, dtype) for i, k in enumerate("abc")}
        yield f"masks_{dtype}", [(masks, ("a", "b", "c"), ("y",))], arrays
    rng = np.random.default_rng(0)
    for dtype in ("i1", "u1", "i2", "u2", "i4", "i8"):
        info = np.iinfo(dtype)
        arrays = {k: rng.integers(info.min, info.max, n, dtype, endpoint=True) for k in "ab"}
        arrays["b"][: n // 2] %= 40
        yield f"shifts_{dtype}", [(shifts, ("a", "b"), ("l", "r"))], arrays
        yield f"arithmetic_{dtype}", [(ops.two, ("a", "b"), ("d", "m")), (ops.mul, ("d", "m"), ("a",))], arrays
    yield "integers", [(integers, ("x",), ("y",))], {"x": rng.integers(-(2**31), 2**31 - 1, n, "i4")}
    yield (
        "uniform",
        [(ops.mul, ("s", "t"), ("s",)), (ops.add, ("x", "s"), ("y",))],
        {
            "x": full(n),
            "s": np.array(1.5, "f4"),
            "t": np.array(3, "f4"),
        },
    )
    for name, step, arrays in primitives.programs(n):
        yield f"primitive_{name}", [step], arrays
    for seed in range(24):
        arrays = {k: full(n, i, 0.5) for i, k in enumerate("xyzw")}
        arrays |= {k: full(n, i + 9, 0.5, "f2") for i, k in enumerate("hk")}
        arrays |= {"s": np.array([1.5], "f4"), "t": np.array([-0.7], "f4")}
        steps = [(ops.relu if op is ops.sigmoid else op, i, o) for op, i, o in ops.Program(seed).steps]
        yield f"random_{seed}", steps, arrays


def compiled(n: int) -> Iterator[tuple[str, list[Step], Arrays, Arrays, list[Kernel], Group]]:
    """Give each program with its inputs, its plain results, and the kernels of its only group."""
    for name, steps, arrays in programs(n):
        plain = {k: a.copy() for k, a in arrays.items()}
        run_plain(steps, plain)
        (group,) = cut(steps, types_of(plain))
        assert isinstance(group, Group)
        group.finish(plain)
        yield name, steps, arrays, plain, list(kernels(group)), group


def whole(name: str, kernel: Kernel, group: Group, loop: str, prefix: str) -> str:
    """Return the kernel as a function on pointers, its body under ``loop``, as CuPy puts its own around it."""
    args: list[str] = ["long long n"]
    refs: list[str] = []
    for letter, blobs in (("i", kernel.loads), ("u", kernel.uniforms), ("o", kernel.stores)):
        for k, blob in enumerate(blobs):
            c = c_name(group.known[blob][0])
            const = "" if letter == "o" else "const "
            if letter == "u":
                args.append(f"const {c}* u{k}")
            else:
                args.append(f"{const}{c}* p{letter}{k}")
                refs.append(f"{const}{c}& {letter}{k} = p{letter}{k}[at];")
    inner = "\n".join([*refs, kernel.body])
    return f'extern "C" {prefix} void {name}({", ".join(args)}) {{\n{kernel.prologue}\n{loop} {{\n{inner}\n}}\n}}\n'
