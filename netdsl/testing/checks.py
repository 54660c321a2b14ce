"""What every operator must do: each check takes a :class:`Case` and raises AssertionError."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from netdsl.analysis.infer import infer_op
from netdsl.dsl import Net
from netdsl.errors import InferenceError, NetdslError, SchemaError
from netdsl.io.files import decode, encode
from netdsl.ir import BlobType, Dim, DType, NetDef, TensorType, from_json, parse, to_json
from netdsl.ops.schema import ANY_INPUT, Computes, Differentiable, Runs, Samples
from netdsl.testing.case import Case
from netdsl.testing.compare import assert_close, assert_same
from netdsl.testing.gradients import flowing, gradient_matches_finite_differences, with_backward
from netdsl.testing.plain import Plain, agrees, execute, shares_memory
from netdsl.testing.rows import by_rows, writes_nothing_where_it_refuses, writes_only_the_rows_it_names

Check = Callable[[Case], None]
BLOCKS = 70_000
"""Elements enough for the runtime to cut an elementwise operator into blocks."""


def outputs_of(case: Case, how: str = "plain", *, times: int = 1) -> list[Any]:
    """Run a case and return its outputs in recorded order; None where nothing was written."""
    blobs = execute(case.net, case.feeds, how, times=times)
    return [blobs.get(name) for name in case.record.outputs]


def computes_what_is_expected(case: Case) -> None:
    """The outputs are those of ``expect``, or satisfy ``holds``."""
    got = outputs_of(case)
    if case.holds is not None:
        case.holds(case.inputs, tuple(got))
        return
    assert case.expect is not None, "a case needs expect= or holds="
    expected = case.expected()
    assert len(expected) == len(got), f"{len(expected)} outputs expected, {len(got)} recorded"
    for name, value, wanted in zip(case.record.outputs, got, expected, strict=True):
        if wanted is not None:
            assert value is not None, f"{name} was not written"
            assert_close(value, wanted, name, case.rtol, case.atol)


def refuses_as_stated(case: Case) -> None:
    """Appending the operator to a net, or running it, raises one of our errors, which says what ``refuses`` says."""
    try:
        net = Net("case")
        net.extend(case.before)
        net.add(case.op, case.input_names, case.record.outputs, dict(case.args))
        execute(net.definition, case.feeds)
    except NetdslError as error:
        message = str(error)
    else:
        raise AssertionError(f"should be refused: {case.refuses}")
    assert case.refuses in message, f"the message should say {case.refuses!r}:\n{message}"


def infers_what_it_computes(case: Case) -> None:
    """Inference tells the types computed, and says nothing wrong where dims are named or unknown."""
    plain = Plain(dict(case.feeds))
    plain.run(NetDef("before", case.before))
    types = {name: plain.type_of(name) for name in case.record.inputs}
    plain.run(case.record)  # checks the fully known types
    for how, (changed, dims) in _less_known(types).items():
        promised = infer_op(case.record, changed)
        for name, type_ in zip(case.record.outputs, promised, strict=True):
            if name in plain.blobs:
                actual = plain.type_of(name)
                assert agrees(type_, actual, dims), f"{name} is inferred as {type_} {how}, but computed as {actual}"


def _less_known(types: dict[str, BlobType]) -> dict[str, tuple[dict[str, BlobType], dict[str, int]]]:
    """The same types with dims unknown, named by their extents, and each with a name of its own."""

    def changed(dim: Callable[[str, int, int], Dim]) -> dict[str, BlobType]:
        return {
            name: TensorType(t.dtype, tuple(dim(name, i, int(d)) for i, d in enumerate(t.shape or ())))  # type: ignore[arg-type]
            if isinstance(t, TensorType)
            else t
            for name, t in types.items()
        }

    extents = {
        f"{name}{i}": int(d)  # type: ignore[arg-type]
        for name, t in types.items()
        if isinstance(t, TensorType)
        for i, d in enumerate(t.shape or ())
    }
    return {
        "with unknown dims": (changed(lambda *_: None), {}),
        "with named dims": (changed(lambda _name, _i, d: f"d{d}"), {f"d{d}": d for d in extents.values()}),
        "with dims of different names": (changed(lambda name, i, _d: f"{name}{i}"), extents),
        **{
            f"with {extent} named": (changed(lambda _name, _i, d, of=extent: "n" if d == of else d), {"n": extent})
            for extent in set(extents.values())
        },
        "with unknown shapes": ({n: TensorType() if isinstance(t, TensorType) else t for n, t in types.items()}, {}),
    }


def leaves_its_inputs_alone(case: Case) -> None:
    """The body writes none of its inputs, and returns views only of those it declares.

    A body with effects may write an input that it must overwrite by declaration; one that is declared by rows is
    given a copy of its own.
    """
    must = {out.enforced for out in case.declared.outputs} if isinstance(case.bound, Runs) else set()
    names = list(case.record.inputs)

    def protected(index: int, x: np.ndarray) -> np.ndarray:
        formal: Any = case.declared.formal_inputs.formal_at(index, len(names))
        x = x.copy()
        x.flags.writeable = formal.name in must
        return x

    case = case.with_inputs(protected)
    record, feeds = case.record, case.feeds
    blobs = execute(case.net, feeds)
    formals, count = case.declared.formal_outputs, len(record.outputs)
    for index, out in enumerate(record.outputs):
        formal: Any = formals.formal_at(index, count)
        for i, name in enumerate(record.inputs):
            if name not in feeds or not shares_memory(blobs.get(out), feeds[name]) or blobs[out] is feeds[name]:
                continue
            source: Any = case.declared.formal_inputs.formal_at(i, len(record.inputs))
            assert source.name in (formal.view, formal.alias), f"{out} is a view of {name}, which is not declared"


def backends_agree(case: Case) -> None:
    """The runtime computes the same on NumPy and behind a device's manners, in a second run too.

    Strings exist on the host only.
    """
    strings = any(x.dtype == object for x in _arrays(case))
    for how in ("numpy",) if strings else ("numpy", "strict"):
        backend_agrees(case, how, exactly=case.declared.elementwise)


def backend_agrees(case: Case, how: str, *, exactly: bool = False) -> None:
    """The runtime on one backend ("cupy" too, where there is a device) computes what the plain bodies compute."""
    for times in (1, 2):
        expected, found = outputs_of(case, times=times), outputs_of(case, how, times=times)
        for name, got, wanted in zip(case.record.outputs, found, expected, strict=True):
            assert_same(got, wanted, f"{name} on {how}, run {times}", case, exactly=exactly)


def blockwise_equals_plain(case: Case) -> None:
    """A traced formula computes large arrays block by block to the same bits."""

    def larger(_: int, x: np.ndarray) -> np.ndarray:
        return x if x.size <= 1 else np.resize(x, BLOCKS)

    case = case.with_inputs(larger)
    for name, got, wanted in zip(case.record.outputs, outputs_of(case, "numpy"), outputs_of(case), strict=True):
        assert_same(got, wanted, name, case, exactly=True)


def in_place_equals_out_of_place(case: Case) -> None:
    """Every in-place use that is declared gives what the operator gives out of place."""
    expected = outputs_of(case)
    for record in _in_place(case):
        blobs = execute(NetDef("case", [*case.before, record]), case.feeds, "numpy")
        for name, wanted in zip(record.outputs, expected, strict=True):
            if wanted is not None:
                assert_same(blobs[name], wanted, f"{name} of {record}", case, exactly=case.declared.elementwise)


def _in_place(case: Case) -> Iterator[Any]:
    record, declared = case.record, case.declared
    for index in range(len(record.outputs)):
        formal: Any = declared.formal_outputs.formal_at(index, len(record.outputs))
        for name in formal.inplace:
            at = None if name == ANY_INPUT else declared.formal_inputs.first_index(name, len(record.inputs))
            if at is not None and record.inputs[at] not in record.outputs:
                outs = [*record.outputs[:index], record.inputs[at], *record.outputs[index + 1 :]]
                yield attrs.evolve(record, outputs=outs)


def fewer_outputs_are_the_same(case: Case) -> None:
    """A record that names fewer outputs gets the same values for those it names."""
    record, expected = case.record, outputs_of(case)
    for count in range(case.declared.formal_outputs.required, len(record.outputs)):
        shorter = attrs.evolve(record, outputs=record.outputs[:count])
        try:
            blobs = execute(NetDef("case", [*case.before, shorter]), case.feeds)
        except (SchemaError, InferenceError):
            continue  # some want all outputs or one, or as many as inputs
        for name, wanted in zip(shorter.outputs, expected, strict=False):
            assert_same(blobs.get(name), wanted, f"{name} of {shorter}", case, exactly=False)


def works_on_strided_arrays(case: Case) -> None:
    """Inputs that are not contiguous give the same."""
    expected = outputs_of(case)

    def every_other(_: int, x: np.ndarray) -> np.ndarray:
        apart = np.stack([x, x], axis=-1)[..., 0]
        apart.flags.writeable = False  # or a copy would be fed
        return apart

    def by_columns(_: int, x: np.ndarray) -> np.ndarray:
        return x.copy("F") if x.ndim else x

    for change in (every_other, by_columns):
        got = outputs_of(case.with_inputs(change))
        for name, value, wanted in zip(case.record.outputs, got, expected, strict=True):
            assert_same(value, wanted, f"{name}, {change.__name__}", case, exactly=False)


def works_on_an_empty_batch(case: Case) -> None:
    """With no rows the operator computes what is expected, and gradients of the inputs' shapes."""
    empty = case.with_inputs(lambda i, x: x[:0] if i in case.batch else x)
    if callable(case.expect):
        computes_what_is_expected(empty)
    blobs = execute(empty.net, empty.feeds)
    for how in ("numpy", "strict"):
        for name, got in zip(case.record.outputs, outputs_of(empty, how), strict=True):
            assert_same(got, blobs.get(name), f"{name} on {how}", case, exactly=False)
    if has_gradient(case):
        outputs = flowing(empty, blobs)
        net, made = with_backward(empty, outputs)
        blobs = execute(net, {**empty.feeds, **{f"{name}_GO": np.ones_like(blobs[name]) for name in outputs}})
        for name, grad in made.grads.items():
            if isinstance(grad, str) and name in empty.feeds and grad in blobs:
                got, wanted = blobs[grad].shape, empty.feeds[name].shape
                assert got == wanted, f"the gradient of {name} has shape {got}, expected {wanted}"


def half_precision_is_close(case: Case) -> None:
    """Half-precision inputs give half-precision accuracy: what is computed in between does not lose more."""

    def cast(dtype: Any) -> Case:
        return case.with_inputs(lambda _, x: x.astype(np.float16).astype(dtype) if x.dtype == np.float32 else x)

    halves, singles = outputs_of(cast(np.float16)), outputs_of(cast(np.float32))
    for name, got, wanted in zip(case.record.outputs, halves, singles, strict=True):
        if got is not None and got.dtype.kind == "f":
            scale = float(np.abs(wanted).max(initial=0.0)) if np.isfinite(wanted).all() else 1.0
            assert_close(got, wanted, f"{name} in half precision", 2.0**-8, 2.0**-9 * max(scale, 2.0**-4))
        else:
            assert_same(got, wanted, name, case, exactly=True)


def record_round_trips(case: Case) -> None:
    """The operator and its gradient survive text, JSON, and Caffe2's files."""
    net = case.net
    if has_gradient(case):
        net, _ = with_backward(case, flowing(case, execute(case.net, case.feeds)))
    assert parse(str(net)) == net
    assert from_json(to_json(net)) == net
    for format in ("pb", "pbtxt"):
        assert decode(encode(net, format)) == net, f"differs after {format}"


def has_gradient(case: Case) -> bool:
    """Whether gradients of this case are checked: through operators that have them, of inputs that are floats."""
    floats = case.grad == () or any(x.dtype.kind == "f" for x in _arrays(case))
    return case.grad is not False and floats and isinstance(case.bound, Differentiable)


def _arrays(case: Case) -> list[Any]:
    return [x for x in case.inputs if not isinstance(x, str)]


def _takes_half(case: Case) -> bool:
    return case.half and isinstance(case.bound, Computes) and case.accepts(DType.FLOAT16)


def _one_shape(case: Case) -> bool:
    return len({x.shape for x in _arrays(case) if x.size != 1}) == 1 and case.declared.elementwise


CHECKS: dict[Check, Callable[[Case], bool]] = {
    computes_what_is_expected: lambda case: True,
    infers_what_it_computes: lambda case: True,
    leaves_its_inputs_alone: lambda case: bool(_arrays(case)),
    writes_only_the_rows_it_names: lambda case: bool(by_rows(case)),
    writes_nothing_where_it_refuses: lambda case: any(indices.size for _, _, indices in by_rows(case)),
    backends_agree: lambda case: True,
    blockwise_equals_plain: _one_shape,
    gradient_matches_finite_differences: has_gradient,
    in_place_equals_out_of_place: lambda case: not isinstance(case.bound, Samples | Runs) and any(_in_place(case)),
    fewer_outputs_are_the_same: lambda case: (
        len(case.record.outputs) > case.declared.formal_outputs.required and case.declared.formal_outputs.run is None
    ),
    works_on_strided_arrays: lambda case: any(x.ndim for x in _arrays(case)),
    works_on_an_empty_batch: lambda case: bool(case.batch),
    half_precision_is_close: _takes_half,
    record_round_trips: lambda case: True,
}
"""Every check, and whether it says something about a case."""


def checks_for(case: Case) -> list[Check]:
    """The checks that say something about a case."""
    if case.refuses:
        return [refuses_as_stated]
    return [check for check, applies in CHECKS.items() if applies(case)]


@contextmanager
def _about(case: Case, check: Check) -> Iterator[None]:
    try:
        yield
    except (AssertionError, NetdslError) as error:
        what = check.__name__.replace("_", " ")
        raise AssertionError(f"{case}: {what}\n{error}") from error


def check_case(case: Case, check: Check) -> None:
    """Run one check; what goes wrong is an AssertionError that names the case and the check."""
    with _about(case, check):
        check(case)


def check_operator(cases: Iterable[Case]) -> None:
    """Run every check on every case; raise one AssertionError that lists all that went wrong."""
    problems: list[str] = []
    for case in cases:
        for check in checks_for(case):
            try:
                check_case(case, check)
            except AssertionError as error:
                problems.append(str(error))
    if problems:
        raise AssertionError("\n\n".join(problems))
