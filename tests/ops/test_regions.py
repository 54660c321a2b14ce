"""Which blobs of nested nets are those around them, and what renaming does to them."""

from __future__ import annotations

import attrs
import pytest

import netdsl as nd
from netdsl.errors import BlobError, NetError
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops import regions
from netdsl.ops.regions import Region
from netdsl.passes.edit import extract, for_test, rename
from tests.ops.region_operators import bound_do, caffe2_do, caffe2_recurrent, op, steps


def test_an_operator_without_nested_nets_has_no_regions() -> None:
    plain = op("FC", "x w b", "y", axis=1)
    assert regions.regions(plain) == ()
    assert regions.around(plain) == regions.Flow()


@pytest.mark.parametrize(
    ("record", "outer", "own", "reads", "writes"),
    [
        (bound_do(), {"x": "a", "y": "b"}, ["b"], ["a"], ["b"]),
        (steps(), {"w": "w", "bias": "bias"}, ["h_prev", "h"], ["w", "bias"], []),
        (caffe2_do(), {"x": "a", "y": "b"}, [], ["a"], ["b"]),
        (caffe2_recurrent(), {"w": "w", "b": "b"}, ["h_prev", "h"], ["w", "b"], []),
        (op("If", "c", "y", then_net=NetDef("t", [op("Exp", "x", "y")])), {"x": "x", "y": "y"}, [], ["x"], ["y"]),
    ],
)
def test_which_blobs_are_those_around(
    record: OperatorDef, outer: dict[str, str], own: list[str], reads: list[str], writes: list[str]
) -> None:
    (region,) = regions.regions(record)
    assert region.outer() == outer
    assert region.own() == own
    assert list(regions.reads(record)) == reads
    assert list(regions.writes(record)) == writes
    assert regions.named(record).keys() == set(outer.values())


def test_what_an_undeclared_operator_lists_as_an_output_only_is_not_there_before() -> None:
    body = NetDef("b", [op("Not", "going", "going"), op("Exp", "x", "y")])
    record = op("Unheard", "x", "going y", loop_net=body)
    assert list(regions.reads(record)) == ["x"]
    assert list(regions.writes(record)) == ["going", "y"]


def test_a_net_that_the_operator_declares_no_region_for_sees_nothing() -> None:
    spare = NetDef("spare", [op("Exp", "w", "start")])
    record = attrs.evolve(steps(), args={**steps().args, "spare_net": spare})
    assert [(r.argument, r.outer()) for r in regions.regions(record)] == [
        ("spare_net", {}),
        ("step_net", {"w": "w", "bias": "bias"}),
    ]
    assert rename(NetDef("n", [record]), {"w": "v"}).ops[0].args["spare_net"] == spare


def test_an_operator_used_wrongly_goes_by_what_it_lists() -> None:
    record = op("If", "c x", "y", else_net=NetDef("t", [op("Exp", "x", "y"), op("Exp", "z", "z")]))
    assert list(regions.named(record)) == ["x", "y"]


def test_nets_of_one_argument_and_lines_of_their_own() -> None:
    nets = [NetDef("a", [op("Exp", "x", "y")]), NetDef("b", [op("Exp", "y", "z")])]
    record = op("Unheard", "x", "y", nets=nets)
    assert [r.net for r in regions.regions(record)] == nets
    made = rename(NetDef("n", [record]), {"y": "other"}).ops[0]
    assert [str(net.ops[0]) for net in made.args["nets"]] == ["other = Exp(x)", "z = Exp(other)"]


def test_deep_nests_take_time_by_their_size() -> None:
    net = NetDef("n", [op("Exp", "x", "y")])
    for kind in ("If", "Unheard") * 15:
        args = {"then_net": net} if kind == "If" else {"body": net}
        net = NetDef("n", [OperatorDef(kind, ["c", "x"], ["y"], args)])
    assert list(regions.flow(net).reads) == ["c", "x"]
    there = rename(net, {"x": "x2"})
    assert list(regions.flow(there).reads) == ["c", "x2"]


class TestRename:
    """Renaming where nested nets have names of their own."""

    @pytest.mark.parametrize("make", [bound_do, steps, caffe2_do, caffe2_recurrent])
    def test_there_and_back(self, make: object) -> None:
        net = NetDef("n", [make()])  # type: ignore[operator]
        there = {name: f"{name}_2" for name in regions.flow(net).named}
        made = rename(net, there)
        assert regions.flow(made).named.keys() == set(there.values())
        assert rename(made, {new: old for old, new in there.items()}) == net

    def test_a_bound_net_keeps_its_names_and_its_bindings(self) -> None:
        net = NetDef("n", [caffe2_do(), op("Copy", "x", "c")])
        made = rename(net, {"x": "other", "b": "result"})
        assert made.ops[0].inputs == ("a", "other", "ws")
        assert made.ops[0].args == net.ops[0].args
        assert regions.regions(made.ops[0])[0].outer() == {"x": "a", "y": "result"}

    def test_arguments_that_name_blobs_follow(self) -> None:
        made = rename(NetDef("n", [bound_do()]), {"a": "x", "b": "z"}).ops[0]
        assert made.args["outer"] == ("x", "z")
        assert made.args["net"] == bound_do().args["net"]

    def test_what_falls_through_follows(self) -> None:
        made = rename(NetDef("n", [steps()]), {"w": "v"}).ops[0]
        assert str(made.args["step_net"].ops[0]) == "h = FC(h_prev, v, bias)"
        assert made.args["step_net"].inputs == ("h_prev", "v", "bias")

    @pytest.mark.parametrize(("make", "old"), [(steps, "w"), (caffe2_recurrent, "w"), (caffe2_recurrent, "seq")])
    def test_no_blob_gets_the_name_of_a_private_one(self, make: object, old: str) -> None:
        with pytest.raises(NetError, match="cannot be called 'h', which net 'step' has for itself"):
            rename(NetDef("n", [make()]), {old: "h"})  # type: ignore[operator]

    def test_a_private_blob_is_none_of_the_net(self) -> None:
        with pytest.raises(BlobError, match="no blob 'h_prev'"):
            rename(NetDef("n", [steps()]), {"h_prev": "g"})

    def test_a_name_that_is_private_inside_may_be_used_around_it(self) -> None:
        net = NetDef("n", [steps(), op("Exp", "last", "z")])
        made = rename(net, {"z": "h"})
        assert regions.regions(made.ops[0])[0].own() == ["h_prev", "h"]


class TestExtract:
    """Parts of nets with nested nets that have names of their own."""

    def test_private_blobs_are_no_inputs(self) -> None:
        assert extract(NetDef("n", [steps()]), ["last"]).inputs == ("bias", "start", "w")
        listed = NetDef("n", [caffe2_recurrent()], ["seq", "h0", "w", "b"])
        assert extract(listed, ["h_last"]).inputs == ("seq", "h0", "w", "b")

    def test_a_bound_blob_is_an_input_by_its_outer_name(self) -> None:
        do = attrs.evolve(bound_do(), inputs=[])
        assert extract(NetDef("n", [do]), ["b"]).inputs == ("a",)

    def test_a_private_write_is_none(self) -> None:
        hides = op("RegionDo", "a", "z", net=NetDef("b", [op("Exp", "x", "b"), op("Exp", "x", "y")]))
        hides = attrs.evolve(hides, args={**hides.args, "inner": ["x", "y"], "outer": ["a", "z"]})
        net = NetDef("n", [op("Exp", "a", "b"), hides, op("Tanh", "b", "c")])
        assert [o.type for o in extract(net, ["c"]).ops] == ["Exp", "Tanh"]

    def test_a_bound_write_that_is_not_listed_counts(self) -> None:
        do = attrs.evolve(bound_do(), outputs=[])
        net = NetDef("n", [op("Exp", "a", "b"), do, op("Tanh", "b", "c")])
        assert [o.type for o in extract(net, ["c"]).ops] == ["Exp", "RegionDo", "Tanh"]
        assert extract(NetDef("n", [do]), ["b"]).ops == (do,)

    def test_a_mask_of_a_nested_net_that_is_read_around_it(self) -> None:
        then = NetDef("t", [op("Dropout", "x", "y mask", ratio=0.5)])
        net = NetDef("n", [op("If", "c x", "y mask", then_net=then), op("Not", "mask", "z")], outputs=["y", "z"])
        with pytest.raises(NetError, match="'mask' exists in training only"):
            for_test(net)
        own = NetDef("b", [op("Dropout", "x", "y mask", ratio=0.5)])
        do = op("RegionDo", "x", "y", net=own, inner=["x", "y"], outer=["x", "y"])
        made = for_test(NetDef("n", [do, op("Not", "mask", "z")], outputs=["y", "z"]))
        assert made.ops[0].args["net"].ops[0].outputs == ("y",)


class TestStreams:
    """Random operators draw what they drew under another name."""

    def test_a_random_operator_keeps_its_stream(self) -> None:
        net = nd.parse('net "n"\ny, mask = Dropout(x) {ratio = 0.5}\nz = Relu(y)\noutput z\n')
        made = rename(net, {"y": "h", "z": "out"})
        assert str(made) == ('net "n"\nh, mask = Dropout(x) {ratio = 0.5, stream = "y"}\nout = Relu(h)\noutput out\n')
        again = rename(made, {"h": "k"})
        assert again.ops[0].args["stream"] == "y"
        assert rename(again, {"k": "y", "out": "z"}) == net

    def test_other_names_change_nothing(self) -> None:
        net = nd.parse('net "n"\ny, mask = Dropout(x)\n')
        assert str(rename(net, {"x": "a", "mask": "m"}).ops[0].args) == str(net.ops[0].args)

    def test_nested_nets_that_draw(self) -> None:
        then = NetDef("t", [op("UniformFill", "", "y", shape=[2])])
        other = NetDef("e", [op("ConstantFill", "", "y", shape=[2])])
        draws = op("If", "c", "y", then_net=NetDef("o", [op("If", "d", "y", then_net=then)]))
        net = NetDef("n", [draws, op("If", "c", "z", then_net=attrs.evolve(other, ops=[op("Exp", "x", "z")]))])
        made = rename(net, {"y": "y2", "z": "z2"})
        first, second = made.ops
        assert first.args["stream"] == "y"
        (inner,) = first.args["then_net"].ops
        assert inner.args["stream"] == inner.args["then_net"].ops[0].args["stream"] == "y"
        assert "stream" not in second.args
        assert rename(made, {"y2": "y", "z2": "z"}) == net

    def test_a_clone_that_renames(self) -> None:
        net = nd.Net("n")
        net.GaussianFill([], "w", shape=[2])
        assert net.clone("m", {"w": "v"}).definition.ops[0].args["stream"] == "w"

    def test_backward_operators_have_no_stream(self) -> None:
        net = nd.Net("n")
        net.add("Dropout", "x", ["y", "mask"], {"is_test": 0, "stream": "old"})
        net.add_gradients(net.SumElements("y", "loss"))
        assert "stream" not in net.definition.ops[-1].args


def test_a_frame_for_what_is_its_own() -> None:
    region = Region("n", NetDef("n", [op("Add", "a b", "c")]), {"a": "x"}, through=True, local=("c", "unused"))
    assert region.outer() == {"a": "x", "b": "b"}
    assert region.own() == ["c", "unused"]
