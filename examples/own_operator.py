"""Add an operator of your own: what it computes, its types, its gradient.

    python examples/own_operator.py

Softplus is log(1 + exp(x)). One class says what it is; from then on it is a method of every net, is
differentiated, checked, printed, saved and run on every backend like the others.
"""

import numpy as np

import netdsl as nd
from netdsl.ops.dtypes import Float
from netdsl.ops.schema import In, Operator, Out, arg, operator


@operator
class MySoftplus(Operator):
    """A smooth Relu: ``Y = log(1 + exp(beta * X)) / beta``."""

    inputs = (In("X", Float),)
    outputs = (Out("Y"),)
    elementwise = True

    beta: float = arg(1.0, doc="How sharp the bend is.")

    def infer(self, X):
        return X

    def gradient(self, g):
        g.add(MySoftplusGradient, [g.blob.X, g.grad.Y], [g.grad.X])

    def compute(self, xp, X):
        beta = xp.float32(self.beta)
        z = X.astype(xp.float32) * beta
        return ((xp.maximum(z, 0) + xp.log1p(xp.exp(-xp.abs(z)))) / beta).astype(X.dtype)


@operator
class MySoftplusGradient(Operator):
    """The gradient of MySoftplus: ``dX = dY / (1 + exp(-beta * X))``."""

    inputs = (In("X", Float), In("dY", Float))
    outputs = (Out("dX", inplace="dY"),)
    elementwise = True

    beta: float = arg(1.0, doc="As of MySoftplus.")

    def infer(self, X, dY):
        return X

    def compute(self, xp, X, dY):
        slope = 1 / (1 + xp.exp(-xp.float32(self.beta) * X.astype(xp.float32)))
        return (dY.astype(xp.float32) * slope).astype(X.dtype)


def main() -> float:
    """Run the operator with its gradient, and return how far that is from a difference quotient."""
    net = nd.Net("own")
    x = net.input("x", ("N",))
    y = net.MySoftplus(x, "y", beta=2.0)
    gradients = net.add_gradients(net.SumElements(y, "sum"))
    print(net.dump())

    workspace = nd.Workspace()
    values = np.linspace(-2, 2, 9, dtype=np.float32)

    def total(at: np.ndarray) -> float:
        workspace.feed("x", at)
        workspace.run(net)
        return float(workspace.fetch("sum"))

    step = 1e-2
    quotient = [(total(values + d) - total(values - d)) / (2 * step) for d in step * np.eye(9, dtype=np.float32)]
    total(values)
    gradient = workspace.fetch(gradients[x])
    for row in zip(values, workspace.fetch(y), gradient, quotient, strict=True):
        print("x {:5.2f}   y {:.4f}   dy/dx {:.4f}   difference quotient {:.4f}".format(*row))
    return float(np.abs(gradient - quotient).max())


if __name__ == "__main__":
    main()
