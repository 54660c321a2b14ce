"""Where boxes and edges go."""

from __future__ import annotations

import sys

import pytest

from netdsl.analysis.roles import Role
from netdsl.cli.digits.model import build
from netdsl.ir import NetDef, OperatorDef
from netdsl.viz.layout import BOX_WIDTH, Picture, lay_out
from tests.viz.nets import branches, chain, nested, residual


def find(picture: Picture, output: str) -> int:
    """The node that writes ``output``, by name, last."""
    nodes = enumerate(picture.scene.nodes)
    return [i for i, node in nodes if node.op is not None and output in node.op.outputs][-1]


def overlaps(picture: Picture) -> list[tuple[int, int]]:
    """Pairs of boxes that share a point."""
    found = []
    rows: dict[int, list[int]] = {}
    for index, box in enumerate(picture.boxes):
        rows.setdefault(box.row, []).append(index)
    for members in rows.values():
        for a in members:
            for b in members:
                p, q = picture.boxes[a], picture.boxes[b]
                apart = (
                    p.x + p.width <= q.x or q.x + q.width <= p.x or p.dy + p.height <= q.dy or q.dy + q.height <= p.dy
                )
                if a < b and not apart:
                    found.append((a, b))
    return found


@pytest.fixture(scope="module")
def digits() -> Picture:
    return lay_out(build("half").net.definition)


@pytest.mark.parametrize(
    ("gradient", "forward"),
    [
        ("conv1_w_grad", "conv1"),
        ("conv2_grad", "conv2_relu"),
        ("conv2_relu_grad", "pool"),
        ("fc1_w_grad", "fc1"),
        ("scores_half_grad", "scores"),
        ("scores_grad", "softmax"),
        ("loss_autogen_grad", "loss"),
    ],
)
def test_a_gradient_stands_beside_its_forward_operator(digits, gradient, forward):
    assert digits.boxes[find(digits, gradient)].row == digits.boxes[find(digits, forward)].row
    assert (find(digits, forward), find(digits, gradient)) in digits.pairs


@pytest.mark.parametrize("name", ["conv1_w", "conv1_w_fp32", "conv1_w_grad_fp32", "conv1_b"])
def test_updates_stand_beside_the_operator_whose_parameter_they_update(digits, name):
    assert digits.boxes[find(digits, name)].row == digits.boxes[find(digits, "conv1")].row


def test_lanes_do_not_overlap_and_hold_the_operators_of_their_role(digits):
    assert [lane.role for lane in digits.lanes] == [Role.FORWARD, Role.GRADIENT, Role.UPDATE]
    assert all(a.right < b.left for a, b in zip(digits.lanes, digits.lanes[1:], strict=False))
    extent = {lane.role: (lane.left, lane.right) for lane in digits.lanes}
    for node, box in zip(digits.scene.nodes, digits.boxes, strict=True):
        left, right = extent[node.lane]
        assert left < box.x
        assert box.x + box.width < right
    assert sum(lane.count for lane in digits.lanes) == len(digits.scene.net.ops)


def test_forward_runs_down_and_gradient_runs_up(digits):
    for edge in digits.scene.edges:
        source, target = (digits.scene.nodes[i] for i in (edge.source, edge.target))
        rows = digits.boxes[edge.source].row, digits.boxes[edge.target].row
        if source.lane is target.lane is Role.FORWARD:
            assert rows[0] < rows[1]
        if source.lane is target.lane is Role.GRADIENT:
            assert rows[0] >= rows[1]


@pytest.mark.parametrize("net", [build("half").net.definition, residual(3).net.definition, branches(), nested()])
def test_boxes_do_not_overlap(net):
    assert not overlaps(lay_out(net))


@pytest.mark.parametrize("net", [build("half").net.definition, residual(3).net.definition, branches(), nested()])
def test_no_edge_crosses_a_box(net):
    picture = lay_out(net)
    for way in picture.ways:
        if way.kind != "down":
            continue
        edge = picture.scene.edges[way.edge]
        low, high = sorted((picture.boxes[edge.source].row, picture.boxes[edge.target].row))
        crossed = [box for box in picture.boxes if low < box.row < high and box.x < way.x < box.x + box.width]
        assert not crossed, edge


def test_branches_stand_side_by_side():
    picture = lay_out(branches())
    left, right = picture.boxes[find(picture, "left")], picture.boxes[find(picture, "right1")]
    assert left.row == right.row
    assert left.x + left.width < right.x


def test_updates_stand_in_lines():
    """Chains of different lengths, of two parameters and of two operators in one row, keep to their lines."""
    picture = lay_out(two_heads())
    lines: dict[float, list[str]] = {}
    for node, box in zip(picture.scene.nodes, picture.boxes, strict=True):
        if node.lane is Role.UPDATE and node.op is not None:
            lines.setdefault(picture.tops[box.row] + box.dy, []).append(node.op.type)
    assert [lines[y] for y in sorted(lines)] == [["WeightedSum"], ["Scale", "WeightedSum"], ["Scale", "WeightedSum"]]
    assert not overlaps(picture)


def two_heads() -> NetDef:
    """Two FC side by side; of three parameters one is updated without scaling its gradient."""
    ops = [
        OperatorDef("Relu", ["x"], ["h"]),
        OperatorDef("FC", ["h", "v_w", "v_b"], ["v"]),
        OperatorDef("FC", ["h", "u_w", "u_b"], ["u"]),
        OperatorDef("FCGradient", ["h", "v_w", "v_grad"], ["v_w_grad", "v_b_grad"], is_gradient=True),
        OperatorDef("FCGradient", ["h", "u_w", "u_grad"], ["u_w_grad", "u_b_grad"], is_gradient=True),
    ]
    for name, scaled in [("v_b", False), ("v_w", True), ("u_w", True)]:
        grad = f"{name}_grad"
        ops += [OperatorDef("Scale", [grad], [grad], {"scale": 0.5})] * scaled
        ops.append(OperatorDef("WeightedSum", [name, "one", grad, "lr"], [name]))
    return NetDef("heads", ops, inputs=["x", "v_w", "v_b", "u_w", "u_b", "v_grad", "u_grad", "one", "lr"])


def test_parameters_are_chips_and_data_is_a_box():
    picture = lay_out(build("half").net.definition)
    assert picture.boxes[find(picture, "conv2")].chips == (("w", "32\u00d716\u00d73\u00d73"), ("b", "32"))
    assert [node.blob for node in picture.scene.nodes if node.op is None] == ["data"]


def test_scopes_are_bands_of_whole_rows():
    picture = lay_out(residual(3).net.definition)
    assert [band.path for band in picture.grid.bands] == ["block0", "block1", "block2"]
    for index, box in enumerate(picture.boxes):
        node = picture.scene.nodes[index]
        bands = [band.path for band in picture.grid.bands if band.first <= box.row <= band.last]
        if node.beside is not None and node.op is not None and node.lane is Role.FORWARD:
            assert bands == (["/".join(node.scope)] if node.scope else [])


def test_a_scope_entered_again_is_a_second_band():
    ops = [OperatorDef("Relu", [a], [b]) for a, b in [("x", "s/a"), ("s/a", "b"), ("b", "s/c")]]
    assert [band.path for band in lay_out(NetDef("n", ops)).grid.bands] == ["s", "s"]


def test_very_deep_scopes_are_cut():
    net = NetDef("n", [OperatorDef("Relu", ["x"], ["/".join(["s"] * 3000)])])
    assert len(lay_out(net).grid.bands) == 8


def test_a_nested_net_is_a_band_below_its_operator():
    picture = lay_out(nested())
    (band,) = picture.grid.bands
    owner = next(i for i, node in enumerate(picture.scene.nodes) if node.nested)
    assert (band.label, band.owner) == ("then_net", owner)
    assert band.first == picture.boxes[owner].row + 1
    assert picture.boxes[find(picture, "t1")].chips == (("\u2191 a", ""),), "what comes from outside is named"


def test_a_nested_net_of_a_gradient_stays_in_its_lane():
    body = NetDef("g", [OperatorDef("ReluGradient", ["y", "y_grad"], ["x_grad"], is_gradient=True)])
    ops = [
        OperatorDef("If", ["flag", "x"], ["y"], {"then_net": NetDef("f", [OperatorDef("Relu", ["x"], ["y"])])}),
        OperatorDef("ConstantFill", ["y"], ["y_autogen_grad"], {"value": 1.0}),
        OperatorDef("If", ["flag", "y", "y_autogen_grad"], ["x_grad"], {"then_net": body}, is_gradient=True),
    ]
    picture = lay_out(NetDef("n", ops, inputs=["flag", "x"]))
    lanes = [node.lane for node in picture.scene.nodes if node.inside is not None]
    assert lanes == [Role.FORWARD, Role.GRADIENT]
    assert not overlaps(picture)


def test_operators_in_place_find_their_own_gradients():
    text = """
net "n"
input x: float32[2, 3]
y = Relu(x)
y = Sigmoid(y)
y_autogen_grad = ConstantFill(y) {value = 1.0}
y_grad = SigmoidGradient(y, y_autogen_grad)
x_grad = ReluGradient(y, y_grad)
"""
    import netdsl

    picture = lay_out(netdsl.parse(text.strip() + "\n"))
    rows = {node.op.type: box.row for node, box in zip(picture.scene.nodes, picture.boxes, strict=True) if node.op}
    assert rows["SigmoidGradient"] == rows["Sigmoid"]
    assert rows["ReluGradient"] == rows["Relu"]


def test_an_edge_over_many_rows_is_named_at_its_end():
    ops = [*chain(60).ops, OperatorDef("Add", ["x60", "x1"], ["out"])]
    picture = lay_out(NetDef("n", ops))
    assert picture.boxes[find(picture, "out")].chips == (("\u2191 x1", ""),)


@pytest.mark.parametrize("make", [chain, lambda n: residual(n // 20).net.definition, lambda n: many_readers(n)])
def test_work_grows_linearly(make):
    small, large = calls(make(200)), calls(make(400))
    assert large < 2.3 * small


def many_readers(count: int) -> NetDef:
    """One blob that everything reads and one that everything overwrites."""
    return NetDef("n", [OperatorDef("Add", ["acc", "x"], ["acc"]) for _ in range(count)])


def calls(net: NetDef) -> int:
    """How many functions laying out ``net`` calls: a measure of its work that no other program disturbs."""
    lay_out(net)  # caches are filled before
    count = 0

    def observe(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(observe)
    try:
        lay_out(net)
    finally:
        sys.setprofile(None)
    return count


def test_the_longest_title_of_the_demo_leaves_a_margin_in_its_box():
    letter, left, right = 9.7, 13, 10  # as wide as bold capitals of a wide font are
    assert left + letter * len("MomentumSGDUpdate") + right <= BOX_WIDTH[Role.UPDATE]
