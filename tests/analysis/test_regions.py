"""Analysis of nets whose operators have nested nets with names of their own, and what is inferred inside."""

from __future__ import annotations

import attrs
import pytest

import netdsl as nd
from netdsl.analysis.check import check
from netdsl.analysis.cost import cost
from netdsl.analysis.diff import diff
from netdsl.analysis.graph import graph
from netdsl.analysis.infer import infer
from netdsl.analysis.versions import Versions
from netdsl.errors import GradientError, InferenceError
from netdsl.ir import UNKNOWN, DType, NetDef, OperatorDef, TensorType
from netdsl.passes.edit import rename
from netdsl.viz.scene import build_scene
from tests.ops.region_operators import bound_do, caffe2_do, caffe2_recurrent, op, steps

FLOAT = DType.FLOAT


def floats(*shape: int | str | None) -> TensorType:
    return TensorType(FLOAT, shape)


class TestVersions:
    """What nested nets write, and memory under several names."""

    def test_a_private_write_makes_no_version(self) -> None:
        net = NetDef("n", [op("Exp", "a", "h"), steps()])
        assert Versions(net).last["h"] == 1

    def test_a_bound_write_does_even_if_not_listed(self) -> None:
        net = NetDef("n", [op("Exp", "a", "b"), attrs.evolve(bound_do(), inputs=[], outputs=[])])
        versions = Versions(net)
        assert (versions.last["b"], versions.writer["b", 2]) == (2, 1)
        assert versions.steps[1].hidden.reads == {"a": 0}
        assert versions.steps[1].hidden.writes == {"b": 2}

    def test_a_gradient_that_needs_what_a_bound_net_overwrites(self) -> None:
        net = NetDef("n", [op("Sqr", "b", "s"), bound_do()])
        with pytest.raises(GradientError, match="needs blob 'b' as it was"):
            nd.Net.from_definition(net).add_gradients("s")
        own = NetDef("n", [op("Sqr", "h", "s"), steps()])
        assert nd.Net.from_definition(own).add_gradients("s")["h"].name == "h_grad"

    def test_a_loss_that_depends_on_an_unlisted_write(self) -> None:
        net = NetDef("n", [attrs.evolve(bound_do(), outputs=[]), op("Sqr", "b", "s")])
        with pytest.raises(GradientError, match="depends on blob 'b', which a nested net writes"):
            nd.Net.from_definition(net).add_gradients("s")

    def test_a_read_to_which_no_gradient_flows(self) -> None:
        then = NetDef("t", [op("Mul", "x w", "y")])
        net = nd.Net.from_definition(NetDef("n", [op("If", "c x", "y", then_net=then)]))
        with pytest.raises(GradientError, match="reads blob 'w', to which no gradient can flow"):
            net.add_gradients("y")

    def test_an_alias_goes_by_its_formals(self) -> None:
        ops = [op("RegionPair", "a b", "s b2"), op("Sqr", "b", "bb"), op("Scale", "b2", "b2", scale=3.0)]
        with pytest.raises(GradientError, match="needs blob 'b' as it was") as caught:
            nd.Net.from_definition(NetDef("n", ops)).add_gradients("bb")
        assert str(caught.value.details["overwritten by"]).startswith("b2 = Scale(b2)")
        ops[2] = op("Scale", "s", "s", scale=3.0)  # no alias: the first output is memory of its own
        assert nd.Net.from_definition(NetDef("n", ops)).add_gradients("bb")["b"].name == "b_grad"

    def test_an_alias_made_anew_leaves_the_memory_it_had(self) -> None:
        net = NetDef("n", [op("Alias", "x", "y"), op("Alias", "z", "y"), op("Scale", "x", "x", scale=2.0)])
        assert dict(Versions(net).steps[-1].shared) == {}

    def test_an_alias_that_a_nested_net_makes(self) -> None:
        body = NetDef("b", [op("Alias", "x", "t"), op("Alias", "t", "y")])
        do = op("RegionDo", "a", "b", net=body, inner=["x", "y"], outer=["a", "b"])
        net = NetDef("n", [do, op("Scale", "b", "b", scale=2.0)])
        assert dict(Versions(net).steps[-1].shared) == {"a": 1}


class TestInference:
    """Types that come out of nested nets."""

    def branches(self, *nets: NetDef, **known: TensorType) -> TensorType:
        args = dict(zip(("then_net", "else_net"), nets, strict=False))
        found = infer(NetDef("n", [OperatorDef("If", ["c", "x"], ["y"], args)]), {"x": floats("N", 4), **known})
        return found["y"]  # type: ignore[return-value]

    def test_branches_that_agree_or_not(self) -> None:
        one, other = NetDef("t", [op("Relu", "x", "y")]), NetDef("e", [op("Tanh", "x", "y")])
        rows = NetDef("e", [op("Transpose", "x", "y", axes=[1, 0])])
        half = NetDef("e", [op("FloatToHalf", "x", "y")])
        assert self.branches(one, other) == floats("N", 4)
        assert self.branches(one, rows) == floats(None, None)
        assert self.branches(one, half) == UNKNOWN
        assert self.branches(one, NetDef("e", [op("SumElements", "x", "y")])) == UNKNOWN

    def test_a_branch_that_writes_nothing_leaves_the_earlier_type(self) -> None:
        one, nothing = NetDef("t", [op("Relu", "x", "y")]), NetDef("e")
        assert self.branches(one) == self.branches(one, nothing) == UNKNOWN
        assert self.branches(one, y=floats("N", 4)) == floats("N", 4)
        assert self.branches(one, nothing, y=floats(3, 4)) == floats(None, 4)

    def test_names_of_its_own(self) -> None:
        net = NetDef("n", [bound_do(), op("Relu", "b", "c")])
        assert infer(net, {"a": floats(2, 3), "x": floats(7)})["c"] == floats(2, 3)

    def test_what_runs_again_starts_with_what_it_left(self) -> None:
        body = NetDef("b", [op("Concat", "y y", "t s", axis=0), op("Copy", "t", "y"), op("Relu", "y", "z")])
        loop = op("RegionLoop", "y", "y z", body=body)
        found = infer(NetDef("n", [loop]), {"y": floats(2, 3), "z": floats(4, 3)})
        assert (found["y"], found["z"]) == (floats(None, 3), floats(None, 3))
        turns = op("RegionLoop", "y", "y z", body=NetDef("b", [op("Copy", "y", "z"), op("FloatToHalf", "x", "y")]))
        found = infer(NetDef("n", [turns]), {"x": floats(2), "y": floats(2), "z": floats(2)})
        assert (found["y"], found["z"]) == (UNKNOWN, UNKNOWN)

    def test_what_is_written_but_not_listed_is_not_what_it_was(self) -> None:
        then = NetDef("t", [op("FloatToHalf", "x", "h")])
        known = {"x": floats(2), "h": floats(2)}
        assert infer(NetDef("n", [op("If", "c x", "", then_net=then)]), known)["h"] == UNKNOWN
        assert infer(NetDef("n", [op("Unheard", "x", "h", then_net=then)]), known)["h"] == UNKNOWN

    def test_the_builder_knows_them(self) -> None:
        net, then = nd.Net("n"), nd.Net("t")
        x = net.input("x", (2, 3))
        then.Relu("x", "y")
        net.Tanh(x, "y")
        net.If(["c", "x", "y"], ["y"], then_net=then)
        assert net.type_of("y") == floats(2, 3)

    def test_the_builder_declares_what_only_nested_nets_read(self) -> None:
        net, then = nd.Net("n"), nd.Net("t")
        then.Relu("x", "y")
        net.If(["c"], ["y"], then_net=then)
        assert net.definition.inputs == ("c", "x")

    def test_a_clash_in_a_nested_net_is_told_where_it_is(self) -> None:
        then = NetDef("t", [op("Add", "x w", "y")])
        net = NetDef("n", [op("If", "c x w", "y", then_net=then)])
        with pytest.raises(InferenceError) as caught:
            infer(net, {"x": floats(2, 3), "w": floats(5)})
        assert caught.value.details["at"] == "operator 0 of net 't'"


class TestCheck:
    """Findings in and about nested nets."""

    def test_types_in_nested_nets(self) -> None:
        then = NetDef("t", [op("Exp", "x", "h"), op("Add", "h w", "y"), op("Relu", "y", "y")])
        types = {"x": floats(2, 3), "w": floats(5)}
        net = NetDef("n", [op("If", "c x w", "h y", then_net=then)], ["c", "x", "w"], ["y"], types)
        (found,) = check(net)
        assert (found.rule.code, found.net, found.index) == ("N201", then, 1)

    def test_types_in_a_bound_net_are_those_of_what_it_is_bound_to(self) -> None:
        body = NetDef("b", [op("Add", "x w", "y")])
        do = op("RegionDo", "a v", "z", net=body, inner=["x", "w", "y"], outer=["a", "v", "z"])
        types = {"a": floats(2, 3), "v": floats(5), "x": floats(5)}
        net = NetDef("n", [do], ["a", "v"], ["z"], types)
        assert [(f.rule.code, f.net) for f in check(net)] == [("N201", body)]

    def test_a_loop_is_told_of_once(self) -> None:
        body = NetDef("b", [op("Concat", "y y", "t s", axis=0), op("Copy", "t", "y"), op("Add", "x w", "z")])
        types = {"x": floats(2, 3), "w": floats(5), "y": floats(2, 3)}
        net = NetDef("n", [op("RegionLoop", "x w y", "t s y z", body=body)], ["x", "w", "y"], ["y", "z"], types)
        assert [f.rule.code for f in check(net)] == ["N201"]

    def test_private_blobs_need_no_provider(self) -> None:
        for record in (steps(), bound_do()):
            net = NetDef("n", [record], record.inputs, record.outputs)
            assert check(net) == []

    def test_a_bound_blob_that_nothing_provides(self) -> None:
        net = NetDef("n", [attrs.evolve(bound_do(), inputs=[])], [], ["b"])
        (found,) = check(net)
        assert (found.rule.code, found.blob) == ("N103", "a")

    def test_a_private_read_saves_no_blob_of_that_name(self) -> None:
        net = NetDef("n", [op("Exp", "start", "h_prev"), steps()], ["start", "w", "bias"], ["last"])
        assert [f.rule.name for f in check(net)] == ["dead-operator"]

    def test_a_bound_read_does(self) -> None:
        do = attrs.evolve(bound_do(), inputs=[])
        assert check(NetDef("n", [op("Exp", "start", "a"), do], ["start"], ["b"])) == []


class TestDiff:
    """Renamed blobs around nested nets."""

    @pytest.mark.parametrize("record", [bound_do(), steps(), caffe2_do(), caffe2_recurrent()])
    def test_a_renamed_blob_is_all_that_differs(self, record: OperatorDef) -> None:
        net = NetDef("n", [op("Exp", "first", record.inputs[0]), record])
        old = record.inputs[0]
        assert [(c.kind, c.before, c.after) for c in diff(net, rename(net, {old: "new"}))] == [("renamed", old, "new")]

    def test_a_random_operator_that_keeps_its_stream_or_not(self) -> None:
        net = nd.parse('net "n"\ny, mask = Dropout(x)\nz = Relu(y)\n')
        edited = nd.parse('net "n"\nh, mask = Dropout(x)\nz = Relu(h)\n')
        for other in (rename(net, {"y": "h"}), edited):
            assert [c.kind for c in diff(net, other)] == ["renamed"]

    def test_a_name_that_is_private_inside(self) -> None:
        net = NetDef("n", [op("Exp", "a", "w"), steps()])
        step = rename(NetDef("n", steps().args["step_net"].ops), {"w": "h2"})
        other = NetDef(
            "n", [op("Exp", "a", "h"), attrs.evolve(steps(), inputs=["start", "h", "bias"], args={"step_net": step})]
        )
        assert "renamed" in [c.kind for c in diff(net, other)]


def test_a_graph_has_edges_for_what_only_nested_nets_use() -> None:
    made = graph(NetDef("n", [attrs.evolve(bound_do(), inputs=[], outputs=[]), steps()]))
    assert made.edges[("blob", "a", 0), ("op", 0)]["inputs"] == ()
    assert made.edges[("op", 0), ("blob", "b", 1)]["outputs"] == ()
    assert not any(node[1] in ("h", "h_prev", "x", "y") for node in made)


def test_a_graph_counts_positions_where_they_are() -> None:
    made = graph(NetDef("n", [bound_do()]))
    assert made.edges[("blob", "a", 0), ("op", 0)]["inputs"] == (0,)


class TestCost:
    """Memory of nested nets' blobs."""

    def test_what_only_a_nested_net_reads_lives_until_then(self) -> None:
        do = attrs.evolve(bound_do(), inputs=[])
        early = NetDef("n", [op("Exp", "s", "a"), op("Exp", "s", "t"), do], ["s"], ["b"], {"s": floats(4)})
        found = cost(early)
        assert found.peak == found.held == 4 * 4 * 4
        assert found.ops[-1].outputs == (floats(4),)

    def test_private_blobs_are_none_of_the_net(self) -> None:
        shapes = {"start": floats(2, 3), "w": floats(3, 3), "bias": floats(3), "h": floats(1000)}
        assert cost(NetDef("n", [steps()]), shapes).held == 4 * (6 + 9 + 3 + 6)

    def test_what_nested_nets_compute_is_not_known(self) -> None:
        net = NetDef("n", [bound_do()], ["a"], types={"a": floats(4)})
        assert (cost(net).ops[0].flops, cost(net).unknown, cost(net).ops[0].bytes_written) == (None, 1, 16)


class TestDrawing:
    """Nodes and edges of nested nets."""

    def test_bound_blobs_come_from_around(self) -> None:
        scene = build_scene(NetDef("n", [op("Exp", "s", "a"), op("Exp", "s", "x"), bound_do()], ["s"]))
        exp, _, do, relu, copy = (i for i, node in enumerate(scene.nodes) if node.op is not None)
        assert {(e.source, e.target, e.blob) for e in scene.edges if e.target in (relu, copy)} == {
            (exp, relu, "x"),
            (relu, copy, "b"),
        }
        assert scene.nodes[do].types == (UNKNOWN,)

    def test_private_blobs_are_not_held(self) -> None:
        scene = build_scene(NetDef("n", [op("Exp", "s", "h_prev"), steps()], ["s"]), {"w": floats(3, 3)})
        fc = next(node for node in scene.nodes if node.op is not None and node.op.type == "FC")
        assert fc.held == [("w", floats(3, 3)), ("bias", UNKNOWN)]
        index = scene.nodes.index(fc)
        assert not [e for e in scene.edges if e.target == index]

    def test_branches_do_not_see_each_other(self) -> None:
        then, other = NetDef("t", [op("FloatToHalf", "x", "h")]), NetDef("e", [op("Relu", "h", "y")])
        known = {"x": floats(2), "h": floats(2)}
        scene = build_scene(NetDef("n", [op("If", "c x h", "y", then_net=then, else_net=other)]), known)
        relu = next(node for node in scene.nodes if node.op is not None and node.op.type == "Relu")
        assert relu.types == (floats(2),)
