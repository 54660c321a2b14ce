"""Whatever is done to a net, the analyses tell of it and do not fall over."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable

import attrs
import pytest

from netdsl import viz
from netdsl.analysis.check import check
from netdsl.analysis.cost import cost
from netdsl.analysis.diff import diff
from netdsl.analysis.infer import infer_op
from netdsl.cli.digits.model import build
from netdsl.errors import NetdslError
from netdsl.ir import DType, NetDef, OperatorDef, TensorType, dump, parse
from netdsl.ops.schema import all_types, lookup
from netdsl.ops.validate import check_use

HALF = build("half")
INIT, TRAIN = HALF.init_net.definition, HALF.net.definition
NAMES, TYPES = list(TRAIN.blobs()), all_types()
ARGUMENTS = ["kernel", "axis", "dtype", "shape", "value", "pad", "axes", "to", "order", "nobody_knows"]
VALUES = [0, 1, -1, 10**6, 1.5, "x", (1, 2), (), (0.5,)]


def edited(net: NetDef, rng: random.Random) -> NetDef:
    """``net`` after up to four edits as a person may make them, or a machine."""
    ops = list(net.ops)
    for _ in range(rng.randint(1, 4)):
        index = rng.randrange(len(ops))
        rng.choice(EDITS)(ops, index, rng)
    return attrs.evolve(net, ops=ops)


def remove(ops: list[OperatorDef], index: int, rng: random.Random) -> None:
    del ops[index]


def repeat(ops: list[OperatorDef], index: int, rng: random.Random) -> None:
    ops.insert(rng.randrange(len(ops)), ops[index])


def swap(ops: list[OperatorDef], index: int, rng: random.Random) -> None:
    other = rng.randrange(len(ops))
    ops[index], ops[other] = ops[other], ops[index]


def retype(ops: list[OperatorDef], index: int, rng: random.Random) -> None:
    ops[index] = attrs.evolve(ops[index], type=rng.choice(TYPES))


def argue(ops: list[OperatorDef], index: int, rng: random.Random) -> None:
    args = {**ops[index].args, rng.choice(ARGUMENTS): rng.choice(VALUES)}
    ops[index] = attrs.evolve(ops[index], args=args)


def rename(ops: list[OperatorDef], index: int, rng: random.Random) -> None:
    side = rng.choice(("inputs", "outputs"))
    names = list(getattr(ops[index], side)) or [""]
    names[rng.randrange(len(names))] = rng.choice(NAMES)
    ops[index] = attrs.evolve(ops[index], **{side: names})


def drop_a_blob(ops: list[OperatorDef], index: int, rng: random.Random) -> None:
    side = rng.choice(("inputs", "outputs"))
    ops[index] = attrs.evolve(ops[index], **{side: getattr(ops[index], side)[1:]})


EDITS: list[Callable[[list[OperatorDef], int, random.Random], None]] = [
    *(remove, repeat, swap, retype, argue, rename, drop_a_blob)
]


@pytest.mark.parametrize("seed", range(8))
def test_edited_nets_can_be_checked_compared_costed_and_drawn(seed):
    rng = random.Random(seed)
    for _ in range(25):
        init, train = edited(INIT, rng), edited(TRAIN, rng)
        for found in (check(init, train), check(train, init), check(train)):
            assert all(str(finding) and finding.to_dict() for finding in found)
        assert all(change.where for change in diff(TRAIN, train))
        assert len(cost(train).ops) == len(train.ops)
        assert viz.to_svg(train).startswith("<svg")
        assert parse(dump(train)) == train


@pytest.mark.parametrize("type_", TYPES)
def test_inference_refuses_what_it_cannot_take_in_our_form(type_):
    """Inputs of any rank and dtype: the types of the outputs, or an error of ours."""
    declared, rng = lookup(type_), random.Random(type_)
    for _ in range(300):
        ins = [f"i{index}" for index in range(rng.randint(0, 6))]
        outs = [f"o{index}" for index in range(rng.randint(0, 4))]
        args = {name: rng.choice([*VALUES, True]) for name in declared.arguments() if rng.random() < 0.1}
        op = OperatorDef(type_, ins, outs, args)
        types = {name: TensorType(rng.choice(DTYPES), a_shape(rng)) for name in ins}
        with contextlib.suppress(NetdslError):
            check_use(op)
            assert len(infer_op(op, types)) == len(outs)


DTYPES = [*[DType.FLOAT] * 6, DType.INT32, DType.INT64, DType.FLOAT16, DType.BOOL]


def a_shape(rng: random.Random) -> tuple[int | str | None, ...]:
    return tuple(rng.choice([0, 1, 2, 3, 8, "N", None]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4, 4, 5])))
