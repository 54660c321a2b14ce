"""Sums, means and weighted sums of any number of tensors of one shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from netdsl.errors import InferenceError
from netdsl.ir import TensorType
from netdsl.ir.dims import conflict, merge_shapes, product, same
from netdsl.ops.dtypes import Float, Number
from netdsl.ops.gradient import Gradients
from netdsl.ops.math.unary import as_dtype
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule


@operator
class Sum(Operator):
    """The sum of tensors of one shape, element by element; halves are rounded once."""

    inputs = (In("Xs", Number, many=1, doc="The terms."),)
    outputs = (Out("Y", inplace="Xs"),)
    elementwise = True

    def infer(self, Xs: tuple[TensorType, ...]) -> TensorType:
        return _alike("Sum", Xs)

    def gradient(self, g: Gradients) -> None:
        for target in g.grad.Xs:
            g.same(g.grad.Y, target)

    def compute(self, xp: ArrayModule, Xs: tuple[Array, ...]) -> Array:
        return as_dtype(_total(_wide(xp, x) for x in Xs), Xs[0])


@operator
class Mean(Operator):
    """The mean of tensors of one shape, element by element; halves are rounded once."""

    inputs = (In("Xs", Float, many=1, doc="The terms."),)
    outputs = (Out("Y", inplace="Xs"),)
    elementwise = True

    def infer(self, Xs: tuple[TensorType, ...]) -> TensorType:
        return _alike("Mean", Xs)

    def gradient(self, g: Gradients) -> None:
        g.add(MeanGradient, [g.grad.Y], [g.grad.Xs])

    def compute(self, xp: ArrayModule, Xs: tuple[Array, ...]) -> Array:
        return as_dtype(_total(_wide(xp, x) for x in Xs) / len(Xs), Xs[0])


@operator
class MeanGradient(Operator):
    """Gradients of :class:`Mean`: to each of n terms an n-th of dY."""

    inputs = (In("dY", Float),)
    outputs = (Out("dXs", many=1, inplace="dY"),)
    elementwise = True

    def infer(self, dY: TensorType) -> tuple[tuple[TensorType, ...]]:
        return ((dY,) * self.wanted,)

    def compute(self, xp: ArrayModule, dY: Array) -> tuple[tuple[Array, ...]]:
        return (tuple(dY / self.wanted for _ in range(self.wanted)),)


@operator
class WeightedSum(Operator):
    """The sum of ``w * X`` over pairs of a tensor and a weight, which is one number.

    A weight of 0 leaves its tensor out, NaN and all, but for the first one's. Halves are rounded once.
    """

    inputs = (In("pairs", Float.untied(), many=2, doc="Tensors of one shape and dtype, each with its weight."),)
    outputs = (Out("Y", inplace="pairs"),)
    elementwise = True

    grad_on_w: bool = arg(False, doc="Give the weights gradients too.")

    def infer(self, pairs: tuple[tuple[TensorType, TensorType], ...]) -> TensorType:
        return _weighted("WeightedSum", pairs)

    def gradient(self, g: Gradients) -> None:
        outputs = [target for target, _ in g.grad.pairs]
        if self.grad_on_w:
            outputs += [target for _, target in g.grad.pairs]
        g.add(WeightedSumGradient, [g.grad.Y, *g.blob.pairs], outputs)

    def compute(self, xp: ArrayModule, pairs: tuple[tuple[Array, Array], ...]) -> Array:
        terms = [_weigh(xp, x, w) for x, w in pairs]
        kept = [xp.where(w != 0, term, 0) for term, (_, w) in zip(terms[1:], pairs[1:], strict=True)]
        return as_dtype(_total([terms[0], *kept]), pairs[0][0])


@operator
class WeightedSumGradient(Operator):
    """Gradients of :class:`WeightedSum` for its tensors and, with ``grad_on_w``, after them for its weights."""

    inputs = (In("dY", Float.untied()), In("pairs", Float.untied(), many=2, doc="As in WeightedSum."))
    outputs = (Out("grads", many=1, inplace="dY"),)

    grad_on_w: bool = arg(False, doc="As in WeightedSum.")

    def infer(self, dY: TensorType, pairs: tuple[tuple[TensorType, TensorType], ...]) -> tuple[tuple[TensorType, ...]]:
        _weighted("WeightedSumGradient", pairs)
        expected = len(pairs) * (1 + self.grad_on_w)
        if self.wanted not in (-1, expected):
            raise InferenceError("WeightedSumGradient has one output a gradient", expected=expected, got=self.wanted)
        return ((*(x for x, _ in pairs), *((w for _, w in pairs) if self.grad_on_w else ())),)

    def compute(self, xp: ArrayModule, dY: Array, pairs: tuple[tuple[Array, Array], ...]) -> tuple[tuple[Array, ...]]:
        grads = [as_dtype(_weigh(xp, dY, w), dY) for _, w in pairs]
        if self.grad_on_w:
            wide = _wide(xp, dY)
            grads += [xp.total(wide * _wide(xp, x)).reshape(w.shape).astype(w.dtype) for x, w in pairs]
        return (tuple(grads),)


def _alike(name: str, xs: Sequence[TensorType]) -> TensorType:
    shape = xs[0].shape
    for x in xs[1:]:
        if not same(shape, x.shape):
            raise InferenceError(f"{name}: the terms differ in shape", expected=xs[0], got=x)
        shape = merge_shapes(shape, x.shape)
    return xs[0].with_shape(shape)


def _weighted(name: str, pairs: Sequence[tuple[TensorType, TensorType]]) -> TensorType:
    first = pairs[0][0]
    for x, w in pairs:
        if x.dtype is not None and first.dtype is not None and x.dtype is not first.dtype:
            raise InferenceError(f"{name}: the tensors differ in dtype", expected=first, got=x)
        if conflict(product(w.shape or ()), 1):
            raise InferenceError(f"{name}: a weight must be one number", expected="1 element", got=w)
    return _alike(name, [x for x, _ in pairs])


def _wide(xp: ArrayModule, x: Array) -> Array:
    """Return halves in single precision, everything else as it is."""
    return x.astype(xp.float32) if x.dtype == xp.float16 else x


def _weigh(xp: ArrayModule, x: Array, w: Array) -> Array:
    return _wide(xp, x) * (w if w.ndim <= x.ndim else w.reshape(()))


def _total(terms: Iterable[Array]) -> Array:
    first, *rest = terms
    for term in rest:
        first = first + term
    return first
