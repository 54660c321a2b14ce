"""Renaming, extracting, switching to test mode, and what is needed for inference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netdsl as nd
from netdsl.errors import BlobError, NetError
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.regions import all_reads
from netdsl.passes.edit import extract, for_test, inference, rename

BLOBS = ("a", "b", "c", "d", "e")


@st.composite
def nets(draw: st.DrawFn, depth: int = 1) -> NetDef:
    """Nets of elementwise operators on few blobs, so that they overwrite each other; some with an If."""
    ops: list[OperatorDef] = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["Tanh", "Add", "Mul", "If"] if depth else ["Tanh", "Add"]))
        if kind == "If":
            then, other = draw(nets(depth=0)), draw(nets(depth=0))
            read = sorted({*then.read_first(), *other.read_first()})
            wrote = sorted({name for net in (then, other) for op in net.ops for name in op.outputs})
            ops.append(OperatorDef("If", ["cond", *read, *wrote], wrote, {"then_net": then, "else_net": other}))
            continue
        count = 1 if kind == "Tanh" else 2
        inputs = [draw(st.sampled_from(BLOBS)) for _ in range(count)]
        ops.append(OperatorDef(kind, inputs, [draw(st.sampled_from(BLOBS))]))
    net = NetDef("n", ops)
    return NetDef("n", ops, sorted(net.read_first()))


def run(net: NetDef, seed: int, then: bool) -> nd.Workspace:
    workspace = nd.Workspace()
    rng = np.random.default_rng(seed)
    for name in BLOBS:
        workspace.feed(name, rng.uniform(-1, 1, (2, 2)).astype(np.float32))
    workspace.feed("cond", np.array([then]))
    workspace.run(net)
    return workspace


class TestRename:
    """Renaming in a net and the nets nested in it."""

    @given(nets(), st.permutations(BLOBS))
    def test_there_and_back_is_identity(self, net: NetDef, names: list[str]) -> None:
        there = {old: new for old, new in zip(BLOBS, names, strict=True) if old in _all(net)}
        back = {new: old for old, new in there.items()}
        assert rename(rename(net, there), back) == net

    @given(nets(), st.booleans())
    def test_the_renamed_net_computes_the_same(self, net: NetDef, then: bool) -> None:
        there = {name: f"{name}9" for name in _all(net) if name != "cond"}
        plain, moved = nd.Workspace(), nd.Workspace()
        rng = np.random.default_rng(0)
        for name in BLOBS:
            value = rng.uniform(-1, 1, (2, 2)).astype(np.float32)
            plain.feed(name, value)
            moved.feed(f"{name}9", value)
        for workspace in (plain, moved):
            workspace.feed("cond", np.array([then]))
        plain.run(net)
        moved.run(rename(net, there))
        for name, new in there.items():
            np.testing.assert_array_equal(plain.fetch(name), moved.fetch(new))

    def test_names_may_be_exchanged(self) -> None:
        net = NetDef("n", [OperatorDef("Sub", ["a", "b"], ["c"])], ["a", "b"], ["c"])
        assert rename(net, {"a": "b", "b": "a"}).ops[0].inputs == ("b", "a")

    def test_everything_that_names_a_blob_follows(self) -> None:
        net = nd.parse(
            'net "n"\ninput a: float32[2]\nb = Tanh(a) control (a)\nb = If(c, a)\n  then_net = net "t"\n'
            "    input a\n    b = Exp(a)\n    output b\noutput b\n"
        )
        assert str(rename(net, {"a": "x y", "b": "z"})) == (
            'net "n"\ninput "x y": float32[2]\nz = Tanh("x y") control ("x y")\nz = If(c, "x y")\n'
            '  then_net = net "t"\n    input "x y"\n    z = Exp("x y")\n    output z\noutput z\n'
        )

    def test_no_change_is_the_net_itself(self) -> None:
        net = NetDef("n", [OperatorDef("Tanh", ["a"], ["b"])])
        assert rename(net, {}) is net
        assert rename(net, {"a": "a"}) is net

    def test_a_blob_that_is_not_there(self) -> None:
        with pytest.raises(BlobError, match="no blob 'aa' to rename") as caught:
            rename(NetDef("n", [OperatorDef("Tanh", ["a"], ["b"])]), {"aa": "b"})
        assert caught.value.details["did you mean"] == "a"

    def test_blobs_do_not_merge(self) -> None:
        net = NetDef("n", [OperatorDef("Add", ["a", "b"], ["c"])])
        with pytest.raises(NetError, match="'a' of net 'n' cannot be called 'b'") as caught:
            rename(net, {"a": "b"})
        assert caught.value.details["taken by"] == "b"
        with pytest.raises(NetError, match="'b' of net 'n' cannot be called 'x'") as caught:
            rename(net, {"a": "x", "b": "x"})
        assert caught.value.details["taken by"] == "a, which is renamed to it too"


class TestExtract:
    """The part that computes given outputs."""

    @given(nets(), st.booleans(), st.data())
    def test_it_computes_the_same_numbers(self, net: NetDef, then: bool, data: st.DataObject) -> None:
        written = sorted({name for op in net.ops for name in op.outputs})
        wanted = data.draw(st.lists(st.sampled_from(written), min_size=1, max_size=2, unique=True))
        part = extract(net, wanted)
        whole, alone = run(net, 1, then), run(part, 1, then)
        for name in wanted:
            np.testing.assert_array_equal(whole.fetch(name), alone.fetch(name))
        assert part.outputs == tuple(wanted)
        assert set(part.read_first()) <= set(part.inputs)
        assert extract(part, wanted) == part

    def test_what_an_if_may_leave_alone_is_kept(self) -> None:
        net = nd.Net("n")
        net.Tanh("x", "y")
        net.Exp("x", "unused")
        then = nd.Net("t")
        then.Exp("x", "y")
        net.If(["c", "x"], ["y"], then_net=then)
        assert [op.type for op in extract(net.definition, ["y"]).ops] == ["Tanh", "If"]

    def test_what_only_nested_nets_read_is_an_input(self) -> None:
        then = NetDef("t", [OperatorDef("Exp", ["hidden"], ["y"])])
        inner = NetDef("i", [OperatorDef("If", ["d"], ["y"], {"then_net": then})])
        op = OperatorDef("If", ["c"], ["y"], {"then_net": inner})
        assert list(all_reads(op)) == ["c", "d", "hidden"]
        assert extract(NetDef("n", [op]), ["y"]).inputs == ("c", "d", "hidden")

    def test_an_input_may_be_an_output(self) -> None:
        part = extract(NetDef("n", [OperatorDef("Tanh", ["a"], ["b"])], ["a", "z"]), ["a"])
        assert (part.ops, part.inputs, part.outputs) == ((), ("a",), ("a",))

    def test_control_inputs_that_are_gone_are_left_out(self) -> None:
        ops = [OperatorDef("Exp", ["x"], ["z"]), OperatorDef("Tanh", ["x"], ["y"], control_inputs=["z", "x"])]
        assert extract(NetDef("n", ops), ["y"]).ops[0].control_inputs == ("x",)

    def test_an_output_that_nothing_computes(self) -> None:
        with pytest.raises(BlobError, match="does not compute blob 'bb'") as caught:
            extract(NetDef("n", [OperatorDef("Tanh", ["a"], ["b"])]), ["bb"])
        assert caught.value.details["did you mean"] == "b"


def dropout(*extra: OperatorDef, outputs: tuple[str, ...] = ("y",)) -> NetDef:
    ops = [OperatorDef("Dropout", ["x"], ["y", "mask"], {"is_test": 0, "ratio": 0.5}), *extra]
    return NetDef("n", ops, ["x"], outputs)


class TestForTest:
    """Test mode."""

    def test_training_only_outputs_are_left_out(self) -> None:
        made = for_test(dropout())
        assert str(made.ops[0]) == "y = Dropout(x)"
        assert dict(made.ops[0].args) == {"is_test": 1, "ratio": 0.5}
        assert for_test(made) == made

    def test_statistics_stay_as_they_are(self) -> None:
        net = nd.parse(
            'net "n"\ny, m, v, sm, sv = SpatialBN(x, s, b, m, v) {is_test = 0}\n'
            "z, m, v, sm, sv = SpatialBN(y, s, b, m, v) {is_test = 0}\noutput z\n"
        )
        assert [str(op) for op in for_test(net).ops] == ["y = SpatialBN(x, s, b, m, v)", "z = SpatialBN(y, s, b, m, v)"]

    def test_nested_nets_are_switched_too(self) -> None:
        outer = NetDef("o", [OperatorDef("If", ["c", "x"], ["y"], {"then_net": dropout()})], ["c", "x"], ["y"])
        nested = for_test(outer).ops[0].args["then_net"]
        assert nested.ops[0].args["is_test"] == 1
        assert nested.ops[0].outputs == ("y",)

    def test_unknown_operators_are_let_be(self) -> None:
        net = NetDef("n", [OperatorDef("Mystery", ["x"], ["y"], {"is_test": 0})], ["x"], ["y"])
        assert for_test(net) == net

    def test_a_mask_that_is_read(self) -> None:
        with pytest.raises(NetError, match="'mask' exists in training only") as caught:
            for_test(dropout(OperatorDef("Not", ["mask"], ["z"])))
        assert caught.value.details["needed by"] == "z = Not(mask)"
        with pytest.raises(NetError, match="'mask' exists in training only") as caught:
            for_test(dropout(outputs=("y", "mask")))
        assert caught.value.details["needed by"] == "the outputs of net 'n'"

    def test_another_blob_of_the_masks_name(self) -> None:
        made = for_test(dropout(OperatorDef("Exp", ["y"], ["mask"]), OperatorDef("Tanh", ["mask"], ["z"])))
        assert made.ops[0].outputs == ("y",)


class TestInference:
    """What is needed where nothing is trained."""

    def test_a_softmax_with_loss_of_which_only_the_softmax_is_needed(self) -> None:
        net = nd.parse('net "n"\np, l = SoftmaxWithLoss(x, label) {axis = 1, scale = 2.0}\n')
        made = inference(net, ["p"])
        assert str(made) == 'net "n"\ninput x\np = Softmax(x) {axis = 1}\noutput p\n'
        assert inference(net, ["p", "l"]).ops == net.ops
        x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
        values = []
        for one in (net, made):
            workspace = nd.Workspace()
            workspace.feed("x", x)
            workspace.feed("label", np.zeros(3, np.int32))
            workspace.run(one)
            values.append(workspace.fetch("p"))
        np.testing.assert_array_equal(*values)

    def test_a_mask_that_is_asked_for(self) -> None:
        with pytest.raises(NetError, match="exists in training only"):
            inference(dropout(), ["mask"])


def _all(net: NetDef) -> set[str]:
    found = set(net.blobs())
    for op in net.ops:
        for _, nested in op.nested:
            found |= _all(nested)
    return found
