"""The elementwise functions of ``xp``: one table, from which all follows that computes or checks them.

``tools/regen.py`` writes their part of :mod:`netdsl.ops.xp`; the tracer, the blocks and the CUDA source of
groups, every backend's ``xp`` and the tests read the table itself.
"""

from __future__ import annotations

from typing import Literal

import attrs


@attrs.frozen
class Primitive:
    """One elementwise function, under the name that NumPy, CuPy and ``xp`` share.

    The expressions are C++ as CUDA has it. They name the operands ``{0}``, ``{1}``, ...; halves come as floats,
    every other operand in the dtype that NumPy computes in; the result is converted to the dtype of the result.
    ``{u}`` is an unsigned integer that wraps around where the operands, integers, must.

    Attributes:
        operands: what they are called.
        cuda: the expression of the result.
        kind: "exact" (every library has the same bits; of halves it is the single result, rounded), "selects"
            (the same, and nothing is rounded: NumPy is given the halves themselves) or "inexact" (the last
            bits belong to the library, of halves too).
        doc: what the name does not say.
        ufunc: what NumPy's ufunc is called, where it goes by another name.
        half, ints, bools, spread: other expressions: for halves, for integers and bools, for bools, and for floats
            and doubles where an operand behind the first is no single value.
        helper: C++ functions that the expressions call.
        own: NumPy has no such function; :mod:`netdsl.runtime.special` does, and CuPy in ``cupyx.scipy.special``.
        chooses: the first operand is a condition.
        floats: formulas of integers are not traced: they may fail on their values, or mean nothing.
    """

    name: str
    operands: str
    cuda: str
    kind: Literal["exact", "selects", "inexact"] = "exact"
    doc: str = attrs.field(default="", kw_only=True)
    ufunc: str = attrs.field(default="", kw_only=True)
    half: str = attrs.field(default="", kw_only=True)
    ints: str = attrs.field(default="", kw_only=True)
    bools: str = attrs.field(default="", kw_only=True)
    spread: str = attrs.field(default="", kw_only=True)
    helper: str = attrs.field(default="", kw_only=True)
    own: bool = attrs.field(default=False, kw_only=True)
    chooses: bool = attrs.field(default=False, kw_only=True)
    floats: bool = attrs.field(default=False, kw_only=True)

    @property
    def arity(self) -> int:
        """How many operands it has."""
        return len(self.operands.split())


_SHIFT_LEFT = """
template <class T> __device__ inline T shift_left(T a, T b) {
  return (unsigned long long)b < 8 * sizeof(T) ? (T)(a << b) : (T)0;
}
"""
_SHIFT_RIGHT = """
template <class T> __device__ inline T shift_right(T a, T b) {
  return (unsigned long long)b < 8 * sizeof(T) ? (T)(a >> b) : (T)(a < 0 ? -1 : 0);
}
"""
_FLOOR_DIVIDE = """
template <class T> __device__ inline T floor_divide(T a, T b) {
  if (b == 0) return a / b;
  T r = fmod(a, b), q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return copysign((T)0, a / b);
  T whole = floor(q);
  return q - whole > (T)0.5 ? whole + 1 : whole;
}
template <class T> __device__ inline T integer_floor_divide(T a, T b) {
  if (b == 0) return 0;
  if ((T)-1 < (T)0 && b == (T)-1) return (T)(0 - (unsigned long long)a);
  T q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
"""
_REMAINDER = """
template <class T> __device__ inline T floor_remainder(T a, T b) {
  T r = fmod(a, b);
  if (b == 0) return r;
  if (r == 0) return copysign((T)0, b);
  return (b < 0) != (r < 0) ? r + b : r;
}
template <class T> __device__ inline T integer_floor_remainder(T a, T b) {
  if (b == 0 || ((T)-1 < (T)0 && b == (T)-1)) return 0;
  T r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
"""
_CLIP = """
template <class T> __device__ inline T clip(T a, T low, T high) {
  if (low != low) return low;
  if (high != high) return high;
  T t = a < low ? low : a;
  return t > high ? high : t;
}
template <class T> __device__ inline T clip_between(T a, T low, T high) {
  T t = (a > low) | (a != a) ? a : low;
  return (t < high) | (t != t) ? t : high;
}
"""

_TABLE = (
    Primitive("add", "a b", "{0} + {1}", ints="({u}){0} + ({u}){1}"),
    Primitive("subtract", "a b", "{0} - {1}", ints="({u}){0} - ({u}){1}"),
    Primitive("multiply", "a b", "{0} * {1}", ints="({u}){0} * ({u}){1}"),
    Primitive("divide", "a b", "{0} / {1}"),
    Primitive(
        "floor_divide",
        "a b",
        "floor_divide({0}, {1})",
        ints="integer_floor_divide({0}, {1})",
        helper=_FLOOR_DIVIDE,
        doc="The quotient, rounded down; of integers 0 where ``b`` is.",
    ),
    Primitive(
        "remainder",
        "a b",
        "floor_remainder({0}, {1})",
        ints="integer_floor_remainder({0}, {1})",
        helper=_REMAINDER,
        doc="``a - floor_divide(a, b) * b``, with the sign of ``b``; of integers 0 where ``b`` is.",
    ),
    Primitive("power", "a b", "pow({0}, {1})", "inexact", floats=True),
    Primitive("negative", "a", "-{0}", "selects", ints="-({u}){0}"),
    Primitive(
        "abs",
        "a",
        "fabs({0})",
        "selects",
        ints="{0} < 0 ? -({u}){0} : ({u}){0}",
        bools="{0}",
        ufunc="absolute",
    ),
    Primitive("sign", "a", "{0} > 0 ? 1 : {0} < 0 ? -1 : {0} == 0 ? 0 : {0}", "selects", doc="-1, 0 or 1, or NaN."),
    Primitive("floor", "a", "floor({0})", ints="{0}", doc="Rounded down, in ``a``'s dtype."),
    Primitive("ceil", "a", "ceil({0})", ints="{0}", doc="Rounded up, in ``a``'s dtype."),
    # Of two zeros NumPy takes the first half, the second float.
    Primitive(
        "maximum",
        "a b",
        "({0} > {1}) | ({0} != {0}) ? {0} : {1}",
        "selects",
        half="({0} >= {1}) | ({0} != {0}) ? {0} : {1}",
        doc="The greater one; NaN where one is NaN.",
    ),
    Primitive(
        "minimum",
        "a b",
        "({0} < {1}) | ({0} != {0}) ? {0} : {1}",
        "selects",
        half="({0} <= {1}) | ({0} != {0}) ? {0} : {1}",
        doc="The lesser one; NaN where one is NaN.",
    ),
    Primitive(
        "clip",
        "a a_min a_max",
        "clip({0}, {1}, {2})",
        "selects",
        spread="clip_between({0}, {1}, {2})",
        helper=_CLIP,
        doc="``minimum(maximum(a, a_min), a_max)``, but for the sign of zeros.",
    ),
    Primitive(
        "where",
        "condition a b",
        "{0} ? {1} : {2}",
        "selects",
        chooses=True,
        doc="``a`` where the condition is true, else ``b``.",
    ),
    Primitive("sqrt", "a", "sqrt({0})"),
    Primitive("exp", "a", "exp({0})", "inexact"),
    Primitive("expm1", "a", "expm1({0})", "inexact", doc="``exp(a) - 1``, also near 0."),
    Primitive("log", "a", "log({0})", "inexact", doc="The natural logarithm."),
    Primitive("log1p", "a", "log1p({0})", "inexact", doc="``log(1 + a)``, also near 0."),
    Primitive("sin", "a", "sin({0})", "inexact"),
    Primitive("cos", "a", "cos({0})", "inexact"),
    Primitive("tan", "a", "tan({0})", "inexact"),
    Primitive("arcsin", "a", "asin({0})", "inexact"),
    Primitive("arccos", "a", "acos({0})", "inexact"),
    Primitive("arctan", "a", "atan({0})", "inexact"),
    Primitive("sinh", "a", "sinh({0})", "inexact"),
    Primitive("cosh", "a", "cosh({0})", "inexact"),
    Primitive("tanh", "a", "tanh({0})", "inexact"),
    Primitive("erf", "a", "erf({0})", "inexact", own=True, floats=True, doc="The error function, in ``a``'s dtype."),
    Primitive("isnan", "a", "{0} != {0}"),
    Primitive("isfinite", "a", "{0} - {0} == 0", doc="False for infinities and NaN."),
    Primitive("greater", "a b", "{0} > {1}"),
    Primitive("greater_equal", "a b", "{0} >= {1}"),
    Primitive("less", "a b", "{0} < {1}"),
    Primitive("less_equal", "a b", "{0} <= {1}"),
    Primitive("equal", "a b", "{0} == {1}"),
    Primitive("not_equal", "a b", "{0} != {1}"),
    Primitive("logical_and", "a b", "{0} && {1}"),
    Primitive("logical_or", "a b", "{0} || {1}"),
    Primitive("logical_not", "a", "!{0}"),
    Primitive("bitwise_and", "a b", "{0} & {1}"),
    Primitive("bitwise_or", "a b", "{0} | {1}"),
    Primitive("bitwise_xor", "a b", "{0} ^ {1}"),
    Primitive("invert", "a", "~{0}", bools="!{0}"),
    Primitive("left_shift", "a b", "shift_left({0}, {1})", helper=_SHIFT_LEFT),
    Primitive("right_shift", "a b", "shift_right({0}, {1})", helper=_SHIFT_RIGHT),
)

PRIMITIVES: dict[str, Primitive] = {primitive.name: primitive for primitive in _TABLE}
"""Every primitive by its name. A new one needs a row above, no more: then run ``tools/regen.py``."""

UFUNCS: dict[str, str] = {primitive.ufunc: primitive.name for primitive in _TABLE if primitive.ufunc}
"""The names of primitives that NumPy's ufunc calls otherwise, by the ufunc's."""
