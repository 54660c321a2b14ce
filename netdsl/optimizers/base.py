"""What every optimizer shares: the iteration counter, learning rates, state blobs, sparse gradients."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import attrs

from netdsl.dsl import Blob, Net, Parameter, SparseGradient, Tag, device_scope
from netdsl.errors import NetError, SchemaError
from netdsl.ir import Args, DType, TensorType
from netdsl.optimizers.checks import ByKeyword, instance, number, text

ITERATION, MUTEX = "optimizer_iteration", "iteration_mutex"
APPLIED = "applied_steps"
AGGREGATORS = {"mean": "UnsortedSegmentMean", "sum": "UnsortedSegmentSum"}


class Trainable(Protocol):
    """What an optimizer needs of a model: ``netdsl.Model`` is one."""

    name: str
    net: Net
    init_net: Net

    def params(self, tag: Tag | str | None = None) -> list[Parameter]:
        """The parameters that can be trained, or those with ``tag``."""
        ...

    def save_tables(self) -> None:
        """Keep what is known of the parameters with the net."""
        ...


AnyGradient = Blob | SparseGradient


def values(grad: AnyGradient) -> Blob:
    """The blob of a gradient, or of the rows of a sparse one."""
    return grad.values if isinstance(grad, SparseGradient) else grad


def with_values(grad: AnyGradient, made: Blob) -> AnyGradient:
    """The gradient with ``made`` in place of its values."""
    return SparseGradient(grad.indices, made) if isinstance(grad, SparseGradient) else made


def dense_gradient(parameter: Parameter, optimizer: str) -> Blob:
    """Return the gradient of a parameter that must be dense."""
    if not isinstance(parameter.grad, Blob):
        raise SchemaError(f"{optimizer} takes no sparse gradient", parameter=parameter.name)
    return parameter.grad


def masters(parameter: Parameter) -> tuple[Blob, Blob | None]:
    """The single-precision blob of a parameter, and its half copy if there is one.

    Raises:
        SchemaError: copies, but none in float32 or float16.
    """
    copies = parameter.blob_copy
    if not copies:
        return parameter.blob, None
    if DType.FLOAT in copies:
        return copies[DType.FLOAT], parameter.blob
    if DType.FLOAT16 in copies:
        return parameter.blob, copies[DType.FLOAT16]
    raise SchemaError(
        f"parameter {parameter.name!r} has no single-precision master",
        expected="a copy in float32 or float16",
        got=", ".join(dtype.value for dtype in copies),
    )


class Updates:
    """Where an optimizer appends: state to the init net, steps to the net."""

    def __init__(self, model: Trainable, prefix: str) -> None:
        self.net: Net = model.net
        self.init: Net = model.init_net
        self.prefix = prefix
        self.nonfinite: Blob | None = None
        """Whether to skip this step, with loss scaling."""
        self._rates: dict[Any, Blob] = {}

    def once(self, type_: str, name: str, args: Mapping[str, Any], inputs: Any = ()) -> Blob:
        """Return the init net's blob ``name``, appending what makes it on first use."""
        if not self.init.computes(name):
            self.init.add(type_, inputs, Blob(name, self.init), args)
        return self.net.adopt(name, self.init)

    def state(self, parameter: Blob, suffix: str) -> Blob:
        """Return the zeroed state blob of ``parameter``, shaped as it."""
        return self.once("ConstantFill", f"{parameter}_{suffix}", {"value": 0.0}, Blob(parameter.name, self.init))

    def constant(self, name: str, value: float) -> Blob:
        """Return a blob that holds one float."""
        return self.once("ConstantFill", name, {"shape": [1], "value": value})

    def one(self) -> Blob:
        """Return the blob that holds 1.0, one a net."""
        return self.constant("ONE_0_0", 1.0)

    def helper(self, type_: str, name: str) -> Blob:
        """Return the blob ``name`` that an operator of ``type_`` is about to write.

        Raises:
            NetError: the author's net uses the name for something else.
        """
        definition = self.net.definition
        others = [op for op in definition.ops if name in op.outputs and op.type != type_]
        if others or name in definition.inputs:
            raise NetError(
                f"net {self.net.name!r} has a blob {name!r} already, which {type_} would overwrite",
                used_by=others[0] if others else f"input {name}",
                added_at=others[0].where if others else None,
                fix="call the other blob something else",
            )
        return Blob(name, self.net)

    def iteration(self) -> Blob:
        """Return the iteration counter, counted up once a run; appended on first use."""
        if not self.net.computes(ITERATION):
            with device_scope("cpu"):
                self.once("ConstantFill", ITERATION, {"shape": [1], "value": 0, "dtype": "int64"})
                self.once("CreateMutex", MUTEX, {})
                counter = Blob(ITERATION, self.net)
                self.net.add("AtomicIter", [Blob(MUTEX, self.net), counter], counter)
        return Blob(ITERATION, self.net)

    def steps(self) -> Blob:
        """Return the counter of the steps that were not skipped: the iteration where no step can be."""
        if self.nonfinite is None:
            return self.iteration()
        if not self.net.computes(APPLIED):
            with device_scope("cpu"):
                count = self.once("ConstantFill", APPLIED, {"shape": [1], "value": 0, "dtype": "int64"})
                self.net.add("CountStep", [count, self.nonfinite], count)
        return Blob(APPLIED, self.net)

    def learning_rate(
        self, base_lr: float, policy: str, schedule: Mapping[str, Any], operator: str = "LearningRate"
    ) -> Blob:
        """Return the blob of a learning rate; equal ones are appended once.

        ``base_lr`` is as the update operators want it: negative where they add.
        """
        key = (operator, base_lr, policy, Args(schedule))
        if key not in self._rates:
            iteration = self.iteration()
            name, count = f"{self.prefix}_lr", 1
            taken = self.net.definition.inputs
            while self.net.computes(name) or name in taken:
                count += 1
                name = f"{self.prefix}_lr_{count}"
            args = {"base_lr": base_lr, "policy": policy, **schedule}
            self._rates[key] = self.net.add(operator, iteration, Blob(name, self.net), args)
        return self._rates[key]

    def lars(self, parameter: Blob, grad: Blob, offset: float) -> Blob:
        """Return the layer-wise factor of a learning rate (https://arxiv.org/abs/1708.03888)."""
        decay = self.constant("weight_decay", 0.0)
        trust = self.constant("trust", 1.0)
        most = self.constant("lr_max", 3.4028234663852886e38)
        name = Blob(f"{self.prefix}_{parameter}_lars", self.net)
        args = {"offset": offset, "lr_min": 0.0}
        return self.net.add("Lars", [parameter, grad, decay, trust, most], name, args)

    def scaled(self, rate: Blob, factor: Blob) -> Blob:
        """Return a learning rate times a factor."""
        name = Blob(f"{self.prefix}_local_scaled_lr", self.net)
        return self.net.add("Mul", [rate, factor], name, {"broadcast": 1})

    def deduplicated(self, grad: SparseGradient, aggregator: str | None, parameter: Parameter) -> SparseGradient:
        """Return ``grad`` of ``parameter`` with one row an index: the mean or sum of the rows of a repeated one."""
        if aggregator is None:
            return grad
        grad = self._flat(grad, parameter)
        indices, places = self.net.add("Unique", grad.indices, 2)
        values = self.net.add(AGGREGATORS[aggregator], [grad.values, places], self._first(AGGREGATORS[aggregator]))
        return SparseGradient(indices, values)

    def _flat(self, grad: SparseGradient, parameter: Parameter) -> SparseGradient:
        """Return ``grad`` with its indices as a vector, as those of ids [N, T] are not."""
        type_ = self.net.type_of(grad.indices)
        if not isinstance(type_, TensorType) or type_.rank in (None, 1) or not parameter.shape:
            return grad
        names = [Blob(f"{grad.values}_flat", self.net), Blob(f"_{grad.values}_shape", self.net)]
        flat, _ = self.net.add("Reshape", grad.values, names, {"shape": [-1, *parameter.shape[1:]]})
        return SparseGradient(self.net.add("FlattenToVec", grad.indices), flat)

    def own(self, parameters: Iterable[Parameter]) -> list[Parameter]:
        """Return records whose gradients no two have in common, by copies: for updates that write into theirs."""
        seen: set[Blob] = set()
        found: list[Parameter] = []
        for parameter in parameters:
            grad = parameter.grad
            if grad is not None and values(grad) in seen:
                blob = self.net.add("Copy", values(grad), Blob(f"{parameter}_own_grad", self.net))
                found.append(attrs.evolve(parameter, grad=with_values(grad, blob)))
            elif grad is not None:
                seen.add(values(grad))
                found.append(parameter)
        return found

    def _first(self, type_: str) -> list[Blob]:
        """Name the single output of a segment operator as one of several: ``net/Type:0``."""
        count = 1
        while True:
            base = f"{self.net.name}/{type_}" if count == 1 else f"{self.net.name}/{type_}_{count}"
            if not self.net.computes(f"{base}:0"):
                return [Blob(f"{base}:0", self.net)]
            count += 1


def is_aggregator(_: Any, __: Any, value: str | None) -> None:
    """A validator: None, or how the rows of a repeated index become one."""
    if value is not None and value not in AGGREGATORS:
        raise SchemaError("unknown sparse aggregator", expected="mean, sum or None", got=repr(value))


def _is_schedule(made: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    instance(Mapping, "a mapping of arguments")(made, attribute, value)
    for name, field in {"base_lr": "base_learning_rate", "policy": "policy"}.items():
        if name in value:
            raise SchemaError(f"{type(made).__name__}: 'schedule' takes no {name!r}", fix=f"give it as {field}=")


@attrs.frozen(kw_only=True)
class Optimizer(ByKeyword, abc.ABC):
    """Base of the optimizers: ``build(model)`` appends one update per trained parameter.

    ``policy`` and ``schedule`` are those of the LearningRate operator: ``policy="step",
    schedule={"stepsize": 100, "gamma": 0.5}``, or of another ``rate_operator`` (WarmupLearningRate). A
    rate of 0 appends nothing.
    """

    prefix: ClassVar[str]
    decouples: ClassVar[bool] = False
    """Whether its ``weight_decay`` acts on the parameter rather than on the gradient."""
    skips: ClassVar[bool] = False
    """Whether it heeds ``Updates.nonfinite``, as loss scaling needs."""
    spends: ClassVar[bool] = False
    """Whether its updates may write into the gradients."""

    base_learning_rate: float = attrs.field(default=0.01, validator=number())
    policy: str = attrs.field(default="fixed", validator=text)
    rate_operator: str = attrs.field(default="LearningRate", validator=text)
    schedule: Mapping[str, Any] = attrs.field(factory=dict, validator=_is_schedule)
    sparse_dedup: str | None = attrs.field(default=None, validator=is_aggregator)

    def build(self, model: Trainable, parameters: Iterable[Parameter] | None = None) -> None:
        """Append the updates of ``parameters`` (default: all that are not frozen) of ``model``.

        Raises:
            NetError: no parameter has a gradient, usually because ``model.add_gradients`` was not called.
        """
        chosen = [p for p in (model.params() if parameters is None else parameters) if not p.frozen]
        trained = [p for p in chosen if p.grad is not None]
        if not trained:
            raise no_gradient(model, chosen)
        for parameter in trained:
            self.check_new(parameter)
        updates = Updates(model, self.prefix)
        moved = [p for p in trained if self.base_learning_rate * p.lr_multiplier]
        moved = updates.own(moved) if self.spends else moved
        with model.net.all_or_nothing(), model.init_net.all_or_nothing():
            self.begin(updates, moved)
            for parameter in moved:
                self.update(updates, parameter)
            self.end(updates)
        for parameter in moved:
            decay = self.decay_of(parameter)
            told = {"weight_decay": decay, "decay": "decoupled" if self.decouples else "coupled"} if decay else {}
            self.note(parameter, self.base_learning_rate * parameter.lr_multiplier, **told)
        model.save_tables()

    @staticmethod
    def check_new(parameter: Parameter) -> None:
        """Raise NetError if ``parameter`` has an update already."""
        if by := parameter.settings.get("optimizer"):
            raise NetError(f"parameter {parameter.name!r} is trained already", updated_by=by)

    def note(self, parameter: Parameter, rate: float, **more: Any) -> None:
        """Write down, for tables, how ``parameter`` is trained."""
        parameter.settings.update(optimizer=type(self).__name__, lr=rate, **more)

    def begin(self, to: Updates, parameters: Sequence[Parameter]) -> None:
        """Append what comes before the updates of all ``parameters``; nothing by default."""

    def end(self, to: Updates) -> None:
        """Append what comes after all updates; nothing by default."""

    @abc.abstractmethod
    def update(self, to: Updates, parameter: Parameter) -> None:
        """Append the update of one parameter."""

    def rate(self, to: Updates, parameter: Parameter, sign: int) -> Blob:
        """Return the learning-rate blob of ``parameter``; ``sign`` is -1 where the update adds.

        The multiplier of the parameter, and the sign, act on the whole schedule, its ``end_lr`` too.
        """
        factor = sign * parameter.lr_multiplier
        schedule = dict(self.schedule)
        if "end_lr" in schedule:
            schedule["end_lr"] = factor * schedule["end_lr"]
        return to.learning_rate(factor * self.base_learning_rate, self.policy, schedule, self.rate_operator)

    def decay_of(self, parameter: Parameter) -> float:
        """The weight decay that ``parameter`` gets where nothing else is said: the optimizer's own."""
        return getattr(self, "weight_decay", 0.0)


def no_gradient(model: Trainable, parameters: Iterable[Parameter]) -> NetError:
    """The error of a model of which nothing can be trained."""
    return NetError(
        f"no parameter of model {model.name!r} has a gradient",
        parameters=", ".join(p.name for p in parameters) or "none",
        fix="call model.add_gradients(loss) first",
    )
