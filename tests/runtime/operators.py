"""Small operators, each with one property that the runtime must respect; and ``net`` to write nets briefly."""

from __future__ import annotations

from typing import Any

from netdsl.ir import DType, NetDef, Opaque, OperatorDef, TensorType
from netdsl.ops.dtypes import ANYTHING, AnyTensor, Kind
from netdsl.ops.regions import Region, shared
from netdsl.ops.schema import ANY_INPUT, In, Operator, Out, arg, operator


@operator
class RtAdd(Operator):
    """A formula of two inputs."""

    inputs = (In("A", AnyTensor), In("B", AnyTensor))
    outputs = (Out("C", inplace=("A", "B")),)
    elementwise = True

    def infer(self, A: TensorType, B: TensorType) -> TensorType:
        return A

    def compute(self, xp: Any, A: Any, B: Any) -> Any:
        return A + B


@operator
class RtSquarePlus(Operator):
    """A formula that needs an intermediate value."""

    inputs = (In("X", AnyTensor), In("B", AnyTensor, optional=True))
    outputs = (Out("Y", inplace="X"),)
    elementwise = True
    plus: float = arg(0.0, doc="What is added.")

    def infer(self, X: TensorType, B: TensorType | None = None) -> TensorType:
        return X

    def compute(self, xp: Any, X: Any, B: Any = None) -> Any:
        y = X * X + xp.float32(self.plus)
        return y if B is None else y + B


@operator
class RtSum(Operator):
    """A reduction to shape []."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("S"),)

    def infer(self, X: TensorType) -> TensorType:
        return TensorType(X.dtype, ())

    def compute(self, xp: Any, X: Any) -> Any:
        return xp.sum(X)


@operator
class RtPositive(Operator):
    """Its output's shape depends on data."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y"),)

    def infer(self, X: TensorType) -> TensorType:
        return TensorType(X.dtype, (None,))

    def compute(self, xp: Any, X: Any) -> Any:
        return X[X > 0]


@operator
class RtTranspose(Operator):
    """Returns a view of its input, in place too."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y", view="X", inplace="X"),)

    def infer(self, X: TensorType) -> TensorType:
        return X.with_shape(X.shape[::-1] if X.shape is not None else None)

    def compute(self, xp: Any, X: Any) -> Any:
        return X.T


@operator
class RtSwap(Operator):
    """Returns its inputs the other way round, in place too."""

    inputs = (In("A", AnyTensor), In("B", AnyTensor))
    outputs = (Out("X", inplace=ANY_INPUT), Out("Y", inplace=ANY_INPUT))

    def infer(self, A: TensorType, B: TensorType) -> tuple[TensorType, TensorType]:
        return B, A

    def compute(self, xp: Any, A: Any, B: Any) -> Any:
        return B, A


@operator
class RtAlias(Operator):
    """Shares memory by definition."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y", alias="X"),)

    def infer(self, X: TensorType) -> TensorType:
        return X

    def compute(self, xp: Any, X: Any) -> Any:
        return X


@operator
class RtNoise(Operator):
    """Random, shaped as its input."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y", inplace="X"),)

    def infer(self, X: TensorType) -> TensorType:
        return X

    def sample(self, xp: Any, stream: Any, X: Any) -> Any:
        return stream.uniform(X.shape)


@operator
class RtMaybe(Operator):
    """Leaves its second output unwritten unless asked."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y"), Out("extra", optional=True))
    both: bool = arg(False, doc="Whether to write the second output.")

    def infer(self, X: TensorType) -> tuple[TensorType, TensorType]:
        return X, X

    def compute(self, xp: Any, X: Any) -> Any:
        return X, (X + X if self.both else None)


class Lock:
    """An opaque value."""

    kind = "lock"


@operator
class RtMakeLock(Operator):
    """Makes an opaque blob."""

    outputs = (Out("lock"),)

    def infer(self) -> Opaque:
        return Opaque("lock")

    def run(self, ctx: Any) -> Any:
        return Lock()


@operator
class RtCount(Operator):
    """Counts up in place, under a lock."""

    inputs = (In("lock", Kind("lock")), In("n", AnyTensor))
    outputs = (Out("m", enforced="n"),)

    def infer(self, lock: Opaque, n: TensorType) -> TensorType:
        return n

    def compute(self, xp: Any, lock: Any, n: Any) -> Any:
        assert isinstance(lock, Lock)
        return n + 1


@operator
class RtFail(Operator):
    """Raises what its argument says, from its body."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y"),)
    lie: bool = arg(False, doc="Return another shape than is inferred, instead.")

    def infer(self, X: TensorType) -> TensorType:
        return X

    def compute(self, xp: Any, X: Any) -> Any:
        if self.lie:
            return X.reshape(-1)[:1]
        raise ZeroDivisionError("no such number")


@operator
class RtCall(Operator):
    """Runs a nested net and then says so; what it writes goes by name."""

    inputs = (In("Xs", ANYTHING, many=1, least=0),)
    outputs = (Out("Ys", many=1, least=0),)
    net: NetDef | None = arg(None, doc="The net.")

    def regions(self, op: OperatorDef) -> list[Region]:
        return shared(op)

    def run(self, ctx: Any, Xs: Any) -> None:
        if self.net is not None:
            ctx.execute(self.net)
        ctx.write(f"ran {ctx.op.type}")


@operator
class RtTyped(RtCall):
    """As RtCall, and infers (perhaps wrongly) float32[2] for its outputs."""

    def infer(self, Xs: Any) -> Any:
        return ((TensorType(DType.FLOAT, (2,)),) * self.wanted,)


@operator
class RtBodiless(Operator):
    """Has no body."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y"),)


def op(text: str, **args: Any) -> OperatorDef:
    """Return the operator ``"y, z = Type(a, b)"``."""
    left, _, call = text.rpartition(" = ")
    type_, _, inputs = call.rstrip(")").partition("(")
    return OperatorDef(type_, _names(inputs), _names(left), args)


def net(*ops: str | OperatorDef, name: str = "net") -> NetDef:
    """Return a net of operators, given as in the text form."""
    return NetDef(name, [op(o) if isinstance(o, str) else o for o in ops])


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
