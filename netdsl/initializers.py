"""Initializers append the operators that make a parameter to an init net, and say how its precisions are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netdsl.dsl import Blob, Net, Parameter
from netdsl.dsl.types import as_dtype
from netdsl.errors import SchemaError
from netdsl.ir import DType, TensorType

OperatorAndArgs = tuple[str, Mapping[str, Any]]


class Initializer:
    """Fill the parameter with one operator: ``Initializer("GaussianFill", std=0.01)``."""

    def __init__(self, operator_name: str | None = None, **kwargs: Any) -> None:
        self.operator_name = operator_name
        self.operator_kwargs: Mapping[str, Any] = kwargs

    def update(self, operator_name: str, kwargs: Mapping[str, Any]) -> None:
        """Say which operator fills; for initializers made without one.

        Raises:
            SchemaError: the operator was given already.
        """
        if self.operator_name is not None:
            raise SchemaError(
                "an initializer's operator cannot be replaced", expected=self.operator_name, got=operator_name
            )
        self.operator_name, self.operator_kwargs = operator_name, kwargs

    def create_param(self, param_name: Blob | str, init_net: Net, shape: Sequence[int]) -> Parameter:
        """Append the fill to ``init_net``; return the parameter's record."""
        return Parameter(self._fill(init_net, param_name, shape), tuple(shape))

    def _fill(self, init_net: Net, name: Blob | str, shape: Sequence[int]) -> Blob:
        if self.operator_name is None:
            raise SchemaError("the initializer has no operator yet", expected="update(operator_name, kwargs) first")
        return init_net.add(self.operator_name, [], name, {"shape": tuple(shape), **self.operator_kwargs})

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.operator_kwargs.items())
        return f"{type(self).__name__}({self.operator_name!r}{given})"


class PseudoFP16Initializer(Initializer):
    """Half precision for compute, a single-precision master ``<name>_fp32`` beside it.

    The primary blob is the half one; ``blob_copy`` maps ``DType.FLOAT`` to the master, so that small
    updates are not lost to rounding (https://arxiv.org/abs/1710.03740).
    """

    def create_param(self, param_name: Blob | str, init_net: Net, shape: Sequence[int]) -> Parameter:
        """Append the fill of the master and its conversion to half."""
        master = self._fill(init_net, _suffixed(param_name, "_fp32"), shape)
        half = init_net.add("FloatToHalf", master, param_name)
        return Parameter(half, tuple(shape), blob_copy={DType.FLOAT: master})


class ReversePseudoFP16Initializer(Initializer):
    """As :class:`PseudoFP16Initializer`, but the single-precision blob is the primary one, ``<name>_fp16`` its copy."""

    def create_param(self, param_name: Blob | str, init_net: Net, shape: Sequence[int]) -> Parameter:
        """Append the fill of the primary blob and its conversion to half."""
        primary = self._fill(init_net, param_name, shape)
        half = init_net.add("FloatToHalf", primary, _suffixed(param_name, "_fp16"))
        return Parameter(primary, tuple(shape), blob_copy={DType.FLOAT16: half})


class ExternalInitializer:
    """For a parameter that the workspace holds already when the init net runs.

    The init net checks it: a missing blob, another shape or another dtype raises there. ``dtype`` None
    accepts any.
    """

    def __init__(self, dtype: Any = "float32") -> None:
        self.dtype = None if dtype is None else as_dtype(dtype)

    def create_param(self, param_name: Blob | str, init_net: Net, shape: Sequence[int]) -> Parameter:
        """Append the check to ``init_net``; return the parameter's record.

        Raises:
            SchemaError: a name that is neither a Blob nor a text.
        """
        param = init_net.blob(param_name)
        init_net.set_type(param, TensorType(self.dtype, tuple(shape)))
        args: dict[str, Any] = {"shape": tuple(shape)}
        if self.dtype is not None:
            args["dtype"] = self.dtype.number
        init_net.add("CheckTensor", param, 0, args)
        return Parameter(param, tuple(shape))


def _suffixed(name: Blob | str, suffix: str) -> Blob | str:
    return Blob(name.name + suffix, name.net) if isinstance(name, Blob) else name + suffix


def update_initializer(
    initializer_class: type[Initializer] | None,
    operator_name_and_kwargs: OperatorAndArgs | None,
    default_operator_name_and_kwargs: OperatorAndArgs,
) -> Initializer:
    """Return an initializer of the class and the operator given, or of their defaults.

    So a caller may choose the operator, the way precisions are kept, both or neither.
    """
    name, kwargs = operator_name_and_kwargs or default_operator_name_and_kwargs
    return (initializer_class or Initializer)(name, **kwargs)
