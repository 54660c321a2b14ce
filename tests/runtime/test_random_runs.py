"""What random numbers depend on: seed, stream, runs and iterations, and nothing else."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

from netdsl.errors import NetError
from netdsl.ir import Device, NetDef, OperatorDef
from netdsl.passes.edit import rename
from netdsl.runtime import Workspace
from netdsl.runtime.random import PhiloxStream
from tests.runtime.loops import array
from tests.runtime.operators import net, op


def workspace(seed: int = 3, **blobs: Any) -> Workspace:
    ws = Workspace(seed=seed)
    ws.feed("s", np.zeros(4, np.float32))
    for name, value in blobs.items():
        ws.feed(name, value)
    return ws


def runs(ws: Workspace, step: NetDef, count: int, *names: str, **options: Any) -> list[Any]:
    """What blobs hold after each of some runs."""
    found = []
    for _ in range(count):
        ws.run(step, **options)
        found.append([ws.fetch(name).tolist() for name in names])
    return found


def different(draws: list[Any]) -> bool:
    flat = [tuple(np.ravel(values)) for each in draws for values in each]
    return len(set(flat)) == len(flat)


STEP = net("x = RtNoise(s)", "y = RtNoise(s)", "z = RtAdd(x, y)")


# what numbers depend on


def test_every_run_and_every_blob_draws_its_own():
    found = runs(workspace(), STEP, 4, "x", "y")
    assert different(found)
    assert runs(workspace(), STEP, 4, "x", "y") == found
    assert different([*found, *runs(workspace(4), STEP, 4, "x", "y")])


def test_numbers_are_those_of_the_stream():
    ws = workspace(seed=9)
    for run in range(3):
        ws.run(STEP)
        assert ws.fetch("x").tolist() == PhiloxStream(9, "x", (run,)).uniform((4,)).tolist()


def test_a_nets_name_does_not_count():
    one, two = workspace(), workspace()
    assert runs(one, STEP, 3, "x", "y") == runs(two, attrs.evolve(STEP, name="another"), 3, "x", "y")


def test_other_nets_before_and_between_do_not_count():
    one, two = workspace(), workspace()
    two.run(net("x = RtNoise(s)", "q = RtNoise(s)", name="before"))
    want = runs(one, STEP, 3, "x", "y")
    found = []
    for number in range(3):
        found += runs(two, STEP, 1, "x", "y")
        two.run(net("q = RtNoise(s)", name=f"between {number}"), times=number)
    assert found == want


def test_position_and_neighbours_do_not_count():
    want = runs(workspace(), STEP, 3, "x", "y")
    moved = net("a = RtAdd(s, s)", "y = RtNoise(s)", "p = RtPositive(a)", "b = RtNoise(s)", "x = RtNoise(s)")
    assert runs(workspace(), moved, 3, "x", "y") == want


def test_shapes_do_not_count():
    """A larger blob begins with the numbers of a smaller one."""
    small, large = workspace(), workspace(s=np.zeros(9, np.float32))
    for want, found in zip(runs(small, STEP, 3, "x"), runs(large, STEP, 3, "x"), strict=True):
        assert found[0][:4] == want[0]


def test_sizes_in_turn_draw_by_the_runs_in_all():
    ws, found = workspace(), []
    for run, size in enumerate([2, 3, 2, 3, 5, 2]):
        ws.feed("s", np.zeros(size, np.float32))
        ws.run(STEP)
        found.append(ws.fetch("x").tolist() == PhiloxStream(3, "x", (run,)).uniform((size,)).tolist())
    assert all(found)


def test_how_often_at_once_does_not_count():
    one, two = workspace(), workspace()
    one.run(STEP, times=5)
    assert [one.fetch("x").tolist()] == runs(two, STEP, 5, "x")[-1]
    one.create(STEP).run(2)
    assert [one.fetch("x").tolist()] == runs(two, STEP, 2, "x")[-1]


class Watch:
    def before(self, op: Any, index: int, net: Any) -> None: ...


class Units:
    units = True

    def before_unit(self, ops: Any, index: int, net: Any) -> None: ...

    def after_unit(self, ops: Any, index: int, net: Any) -> None: ...


@pytest.mark.parametrize("options", [{"keep": ["x", "z"]}, {"hooks": [Watch()]}, {"hooks": [Units()]}])
def test_keep_and_hooks_do_not_count(options):
    want = runs(workspace(), STEP, 4, "x", "z")
    assert runs(workspace(), STEP, 4, "x", "z", **options) == want
    mixed, ws = [], workspace()
    for run in range(4):
        mixed += runs(ws, STEP, 1, "x", "z", **(options if run % 2 else {}))
    assert mixed == want


def test_a_net_that_is_equal_goes_on_where_the_other_was():
    ws = workspace()
    found = [runs(ws, net(*STEP.ops), 1, "x") for _ in range(3)]
    assert found == [[each] for each in runs(workspace(), STEP, 3, "x")]


def test_backends_draw_the_same():
    ws = Workspace("strict", seed=3)
    ws.feed("s", np.zeros(4, np.float32))
    assert runs(ws, STEP, 3, "x", "y") == runs(workspace(), STEP, 3, "x", "y")


def test_a_workspaces_children_count_their_own_runs():
    parent = workspace()
    child = Workspace(parent=parent, seed=3)
    want = runs(workspace(), STEP, 3, "x")
    assert runs(child, STEP, 3, "x") == want
    assert "x" not in parent
    assert runs(parent, STEP, 3, "x") == want


def test_a_failed_run_counts():
    ws, want = workspace(bad=array(1)), runs(workspace(), net("x = RtNoise(s)", "y = RtNoise(s)"), 4, "x")
    failing = net("x = RtNoise(s)", "q = RtFail(s)")
    for run in range(4):
        with pytest.raises(ZeroDivisionError):
            ws.run(failing)
        assert [ws.fetch("x").tolist()] == want[run]
    assert ws.runs(failing) == 4


def test_a_run_that_never_began_does_not_count():
    ws, lacking = Workspace(seed=3), net("x = RtNoise(s)")
    for _ in range(3):
        with pytest.raises(LookupError):
            ws.run(lacking)
    assert ws.runs(lacking) == 0
    ws.feed("s", np.zeros(4, np.float32))
    assert runs(ws, lacking, 2, "x") == runs(workspace(), lacking, 2, "x")


def test_reset_begins_anew():
    ws = workspace()
    want = runs(ws, STEP, 3, "x", "y")
    ws.reset()
    assert ws.runs(STEP) == 0
    ws.feed("s", np.zeros(4, np.float32))
    assert runs(ws, STEP, 3, "x", "y") == want


# to go on


def test_runs_can_be_asked_and_set_to_go_on_exactly():
    whole = runs(workspace(), STEP, 6, "x", "y")
    first = workspace()
    assert first.runs(STEP) == 0
    assert runs(first, STEP, 4, "x", "y") == whole[:4]
    assert first.runs(STEP) == 4
    second = workspace()
    second.set_runs(STEP, first.runs(STEP))
    assert second.runs(STEP) == 4
    assert runs(second, STEP, 2, "x", "y") == whole[4:]
    second.set_runs(STEP, 1)
    assert runs(second, STEP, 3, "x", "y") == whole[1:4]


@pytest.mark.parametrize("count", [-1, 1 << 64])
def test_a_number_of_runs_that_makes_no_sense_is_refused(count):
    with pytest.raises(NetError, match="a number of runs makes no sense"):
        workspace().set_runs(STEP, count)


def test_large_numbers_of_runs_are_told_apart():
    found = []
    for count in (0, (1 << 32), (1 << 63), (1 << 64) - 2):
        ws = workspace()
        ws.set_runs(STEP, count)
        found += runs(ws, STEP, 2, "x")
    assert different(found)


def test_asking_does_not_count():
    ws = workspace()
    ws.run(STEP)
    program = ws.create(STEP)
    assert [program.plan, program.calls, ws.runs(STEP)][2] == 1
    assert runs(ws, STEP, 1, "x") == runs(workspace(), STEP, 2, "x")[1:]


# names and renaming


def test_renaming_keeps_what_is_drawn():
    moved = rename(STEP, {"x": "y", "y": "x", "z": "sum"})
    want = runs(workspace(), STEP, 3, "x", "y", "z")
    assert [[a, b, c] for b, a, c in runs(workspace(), moved, 3, "x", "y", "sum")] == want
    back = rename(moved, {"x": "y", "y": "x", "sum": "z"})
    assert runs(workspace(), back, 3, "x", "y", "z") == want


def dropped(ratio: float = 0.5) -> NetDef:
    return net(op("d, mask = Dropout(s)", ratio=ratio, is_test=0), op("f = UniformFill()", shape=[6]))


def test_renaming_keeps_what_an_operator_of_the_package_draws():
    ws, moved = workspace(s=np.ones(64, np.float32)), workspace(s=np.ones(64, np.float32))
    want = runs(ws, dropped(), 3, "d", "f")
    assert different(want)
    renamed = rename(dropped(), {"d": "dropped", "f": "filled"})
    assert runs(moved, renamed, 3, "dropped", "filled") == want


def test_renaming_keeps_what_loops_draw():
    body = net("x = RtNoise(s)", "t = RtAdd(t, x)", name="body")
    loop = net(op("t = RtRepeat(t, s)", body=body, times=3), "x = RtNoise(s)")

    def total(step: NetDef, name: str) -> list[Any]:
        ws = workspace(**{name: np.zeros(4, np.float32)})
        return runs(ws, step, 3, name)

    assert total(rename(loop, {"t": "total", "x": "noise"}), "total") == total(loop, "t")


def test_an_argument_names_the_stream():
    one = net(op("f = UniformFill()", shape=[6]))
    two = net(op("g = UniformFill()", shape=[6], stream="f"))
    assert runs(workspace(), one, 3, "f") == runs(workspace(), two, 3, "g")


# loops

BODY = net("x = RtNoise(s)", "x3 = RtJoin(x3, x)", name="body")


def loop(times: int = 3, **args: Any) -> OperatorDef:
    return op("x, x3 = RtRepeat(x3, s)", body=BODY, times=times, **args)


def drawn(ws: Workspace, *ops: Any, count: int = 3, **options: Any) -> list[Any]:
    """What the iterations of each run drew, in rows."""
    found = []
    for _ in range(count):
        ws.feed("x3", np.zeros(0, np.float32))
        ws.run(net(*ops), **options)
        found.append(ws.fetch("x3").reshape(-1, 4).tolist())
    return found


def test_every_iteration_draws_anew_and_the_same_again():
    found = drawn(workspace(), loop())
    assert [len(run) for run in found] == [3, 3, 3]
    assert different(found)
    assert drawn(workspace(), loop()) == found
    assert different([*found, *drawn(workspace(4), loop())])


def test_more_iterations_begin_with_those_of_fewer():
    assert [run[:3] for run in drawn(workspace(), loop(5))] == drawn(workspace(), loop(3))


def test_a_bodys_name_and_what_is_around_a_loop_do_not_count():
    other = attrs.evolve(BODY, name="other")
    around = [
        "a = RtNoise(s)",
        op("x, x3 = RtRepeat(x3, s)", body=other, times=3),
        op("b = RtRepeat(s)", body=net("b = RtNoise(s)", name="more"), times=2),
    ]
    assert drawn(workspace(), *around) == drawn(workspace(), loop())


def test_hooks_and_keep_do_not_count_in_loops():
    want = drawn(workspace(), loop())
    assert drawn(workspace(), loop(), hooks=[Watch()]) == want
    assert drawn(workspace(), loop(), hooks=[Units()]) == want
    assert drawn(workspace(), loop(), keep=["x3"]) == want


def test_two_loops_over_one_body_draw_differently():
    first = op("y, x3 = RtRepeat(x3, s)", body=BODY, times=2)
    second = op("q, x3 = RtRepeat(x3, s)", body=BODY, times=2)
    found = drawn(workspace(), first, second)
    assert [len(run) for run in found] == [4, 4, 4]
    assert different(found)
    alone = drawn(workspace(), second)
    assert [run[2:] for run in found] == alone


def test_a_loop_draws_by_its_own_stream():
    third = op("q, x3 = RtRepeat(x3, s)", body=BODY, times=3, stream="x")
    assert drawn(workspace(), third) == drawn(workspace(), loop())


def test_one_body_in_two_nets_draws_by_the_runs_of_each():
    ws = workspace()
    one = drawn(ws, loop())
    two = drawn(ws, loop(), "a = RtAdd(s, s)")
    assert one == two


def test_nested_loops_draw_anew_in_every_iteration_of_each():
    outer = net(loop(2), "c = RtAdd(s, s)", name="outer")
    found = drawn(workspace(), op("x, x3 = RtRepeat(x3, s)", body=outer, times=3))
    assert [len(run) for run in found] == [6, 6, 6]
    assert different(found)
    assert drawn(workspace(), op("x, x3 = RtRepeat(x3, s)", body=outer, times=3)) == found


def test_steps_in_frames_draw_each_their_own():
    step = net("n = RtNoise(x)", "h = RtAdd(h_prev, n)", name="step")
    rows = net(op("S = RtSteps(X, start)", step_net=step))

    def sums() -> list[Any]:
        ws = workspace(X=np.zeros((4, 3), np.float32), start=np.zeros(3, np.float32))
        return runs(ws, rows, 3, "S")

    def expected(run: int) -> np.ndarray:
        h, total = np.zeros(3, np.float32), np.zeros(3, np.float32)
        for at in range(4):
            h = h + PhiloxStream(3, "n", (run, ("S", at))).uniform((3,))
            total = total + h
        return total

    assert sums() == [[expected(run).tolist()] for run in range(3)]


# seeds of operators, and streams of those with effects


def seeded(seed: int, name: str = "x") -> OperatorDef:
    return OperatorDef("RtNoise", ("s",), (name,), device=Device(random_seed=seed))


def test_an_operators_own_seed_counts_instead_of_the_workspaces():
    found = [runs(workspace(seed), net(seeded(5), "y = RtNoise(s)"), 3, "x", "y") for seed in (1, 2)]
    assert [x for x, _ in found[0]] == [x for x, _ in found[1]]
    assert different([[y] for each in found for _, y in each])
    assert [[x] for x, _ in found[0]] == runs(workspace(5), STEP, 3, "x")
    assert different(runs(workspace(), net(seeded(5)), 3, "x"))
    assert different([*runs(workspace(), net(seeded(5)), 2, "x"), *runs(workspace(), net(seeded(6)), 2, "x")])


def test_a_seed_of_zero_is_a_seed():
    found = [runs(workspace(seed), net(seeded(0)), 2, "x") for seed in (1, 2)]
    assert found[0] == found[1] == runs(workspace(0), STEP, 2, "x")


def test_an_operators_own_seed_counts_in_loops():
    body = net(seeded(5), "x3 = RtJoin(x3, x)", name="body")
    looping = op("x, x3 = RtRepeat(x3, s)", body=body, times=3)
    assert drawn(workspace(1), looping) == drawn(workspace(2), looping)
    assert different(drawn(workspace(1), looping))


def test_operators_with_effects_have_streams_of_their_own():
    def draws(seed: int) -> list[Any]:
        ws, found = workspace(seed), []

        def ask(ctx: Any, s: Any) -> None:
            found.append([ctx.stream(name).uniform((3,)).tolist() for name in ("", "one", "two")])
            assert ctx.stream("one").uniform((3,)).tolist() == found[-1][1]

        ws.functions["ask"] = ask
        for _ in range(3):
            ws.run(net("y = RtAsk(s)"))
        return found

    found = draws(3)
    assert different(found)
    assert draws(3) == found
    assert different([*found, *draws(4)])
    assert found[0][0] == PhiloxStream(3, "y", (0,)).uniform((3,)).tolist()


def test_streams_of_operators_with_effects_count_runs_though_nothing_else_draws():
    ws, found = workspace(), []
    ws.functions["ask"] = lambda ctx, s: found.append(ctx.stream().integers((2,), 0, 1 << 40).tolist())
    ask = net("y = RtAsk(s)", "z = RtAdd(s, s)")
    for _ in range(4):
        ws.run(ask)
    assert different([found])
    assert ws.runs(ask) == 4


def test_a_net_that_never_draws_is_not_counted():
    ws = workspace()
    plain = net("z = RtAdd(s, s)")
    ws.run(plain, times=3)
    assert ws.runs(plain) == 0
