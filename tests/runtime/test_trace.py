"""What a formula may do while it is traced, what the graph says then, and the half conversions."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.runtime.half import half_bits, singles
from netdsl.runtime.trace import Graph, Sym, TraceError, Tracer, live
from tests.runtime.formulas import assert_same, check, formula
from tests.runtime.test_groups import to_half, to_single


def trace(body, *dtypes: str, shape: tuple[int, ...] = (5,)):
    graph = Graph()
    symbols = [Sym(graph, graph.node("input", (), d, f"x{i}", shape)) for i, d in enumerate(dtypes)]
    return graph, body(Tracer(graph), *symbols)


REFUSED = {
    "branch": lambda xp, x: x if x > 0 else -x,
    "new shape": lambda xp, x: x.reshape(1, -1),
    "size": lambda xp, x: x / x.size,
    "index": lambda xp, x: x[0] + x,
    "array": lambda xp, x: x + np.ones(3),
    "list": lambda xp, x: xp.add(x, [1, 2]),
    "keyword": lambda xp, x: np.add(x, x, where=True),
    "keyword of xp": lambda xp, x: xp.add(x, x, out=x),
    "keyword of astype": lambda xp, x: x.astype("f8", copy=False),
    "reduction": lambda xp, x: xp.sum(x),
    "method": lambda xp, x: x.sum(),
    "ufunc method": lambda xp, x: np.add.reduce(x),
    "power operator": lambda xp, x: x**2,
    "power of a number": lambda xp, x: 2**x,
    "float": lambda xp, x: float(x) + x,
    "iteration": lambda xp, x: sum(x),
    "in place": lambda xp, x: x.__iadd__(1),
    "two results": lambda xp, x: divmod(x, 2)[0],
    "an array to write to": lambda xp, x: xp.maximum(x, 0, x),
    "no bound": lambda xp, x: xp.clip(x, None, 1),
    "bounds by keyword": lambda xp, x: xp.clip(x, a_min=0, a_max=1),
    "size of view": lambda xp, x: x.view(xp.float64),
    "conversion by NumPy": lambda xp, x: np.asarray(x),
    "complex": lambda xp, x: x * 1j,
    "text": lambda xp, x: x.astype("U3"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises((TraceError, TypeError)):
        trace(REFUSED[name], "f4")


def test_refused_by_dtype():
    for body, dtypes in (
        (lambda xp, x: x.astype(xp.float16), ["f8"]),  # would round twice
        (lambda xp, x: x.astype(xp.float16), ["i4"]),
        (lambda xp, x, y: xp.power(x, y), ["i4", "i4"]),  # may fail on its values
        (lambda xp, x: xp.erf(x), ["i4"]),
        (lambda xp, x: xp.sign(x), ["?"]),
        (lambda xp, x: x + 300, ["u1"]),  # NumPy raises
        (lambda xp, x: -x, ["?"]),
    ):
        with pytest.raises((TraceError, TypeError)):
            trace(body, *dtypes)


def test_equal_nodes_are_one():
    graph, y = trace(lambda xp, a, b: (a + b) * (a + b) + 2 * (a + b), "f4", "f4")
    assert [n.op for n in live(graph, {"y": y.node})] == [
        "input",
        "input",
        "add",
        "multiply",
        "const",
        "multiply",
        "add",
    ]


def test_numbers_are_weak_and_numpy_scalars_are_not():
    assert trace(lambda xp, x: x * 2 + 0.5, "f2")[1].dtype == np.float16
    assert trace(lambda xp, x: xp.float32(2) * x, "f2")[1].dtype == np.float32
    assert trace(lambda xp, x: x * 0.5, "i4")[1].dtype == np.float64
    assert trace(lambda xp, x: x + xp.sqrt(xp.float64(2)), "f4")[1].dtype == np.float64
    assert trace(lambda xp, x: xp.where(x > 0, 1, 0), "f4")[1].dtype == np.int64


def test_numbers_alone_are_computed_at_once():
    graph, y = trace(lambda xp, x: x * (xp.float32(1) - xp.sqrt(xp.float32(0.25))), "f4")
    assert [n.op for n in graph.nodes] == ["input", "const", "multiply"]
    assert y.node.args[1].value == np.float32(0.5)


def test_half_arithmetic_is_single_arithmetic_rounded_each_time():
    graph, y = trace(lambda xp, a, b: a * b + a, "f2", "f2")
    assert y.dtype == np.float16
    ops = [(n.op, n.dtype.name) for n in graph.nodes if n.op != "input"]
    assert ops[:4] == [("cast", "float32"), ("cast", "float32"), ("multiply", "float32"), ("cast", "float16")]


def test_shapes_are_known():
    graph, y = trace(lambda xp, x: x * x.shape[0] if x.ndim == 1 else x, "f4")
    assert [n.op for n in live(graph, {"y": y.node})] == ["input", "const", "multiply"]


def test_rollback_forgets():
    graph, y = trace(lambda xp, a, b: a + b, "f4", "f4")
    mark = graph.mark()
    kept = list(graph.nodes)
    dropped = (y * y).node
    graph.rollback(mark)
    assert graph.nodes == kept
    assert (y * y).node is not dropped
    assert graph.nodes[-1] is (y * y).node


def singles_to_round() -> np.ndarray:
    """Every half, its neighbours in single, the middles between halves, and random bits."""
    halves = singles()
    bits = np.random.default_rng(1).integers(0, 2**32, 1_000_000, dtype="u8").astype("u4").view("f4")
    with np.errstate(all="ignore"):
        up, down = np.nextafter(halves, np.float32(np.inf)), np.nextafter(halves, np.float32(-np.inf))
        middles = ((halves[:-1].astype("f8") + halves[1:]) / 2).astype("f4")
    return np.concatenate([halves, up, down, middles, bits])


def test_half_conversions_are_exact():
    values = singles_to_round()
    with np.errstate(all="ignore"):
        assert_same(half_bits(np, values).view("f2"), values.astype("f2"))
    own = check([(to_half, ("x",), ("h",)), (to_single, ("h",), ("y",))], {"x": values}, groups=1, runs=1, block=32768)
    assert own["y"].dtype == np.float32


def test_optional_conversion_of_small_integers():
    @formula(1)
    def convert(xp, x):
        return x.astype(xp.float16).astype(xp.int64)

    check([(convert, ("x",), ("y",))], {"x": np.arange(-128, 128).astype("i1")}, groups=1)
    check([(convert, ("x",), ("y",))], {"x": np.arange(3000) % 2 == 0}, groups=1)
