"""Parameter groups: what rules decide, and that training by them equals PyTorch's."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl import io, layers, optimizers, viz
from netdsl.analysis.check import check
from netdsl.cli.main import main
from netdsl.errors import NetError, SchemaError
from netdsl.optimizers import Clip, Rule

ROOT = Path(__file__).parent.parent.parent
GOLDEN = np.load(ROOT / "tests" / "data" / "param_groups" / "torch_golden.npz")


def _example() -> Any:
    spec = importlib.util.spec_from_file_location("param_groups_example", ROOT / "examples" / "param_groups.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLE = _example()


def initial(model: nd.Model) -> dict[str, np.ndarray]:
    """The weights that PyTorch started from, in its order of creation."""
    random = np.random.RandomState(7)
    found: dict[str, np.ndarray] = {}
    for name in [key.split("|")[1] for key in GOLDEN if key.startswith("AdamW-None|") and "losses" not in key]:
        shape = model.parameters[name].shape
        assert shape is not None
        values = random.randn(*shape) * (0.3 if len(shape) > 1 else 0.1)
        found[name] = (1 + values if name.endswith("_scale") else values).astype("f4")
    return found


def batch(step: int) -> dict[str, np.ndarray]:
    random = np.random.RandomState(100 + step)
    return {
        "ids": random.randint(0, 11, (4, 5)).astype("i4"),
        "extra": random.randn(4, 6).astype("f4"),
        "label": random.randint(0, 11, (20,)).astype("i4"),
    }


CLIPS = {"None": None, "full_model": Clip("full_model", 0.5), "norm": Clip("norm", 0.1), "value": Clip("value", 0.01)}
OPTIMIZERS = {
    "AdamW": optimizers.AdamW(base_learning_rate=0.01),
    "SGD": optimizers.SGD(base_learning_rate=0.1, momentum=0.9, nesterov=False),
}


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_twenty_steps_equal_pytorch(optimizer: str, clip: str) -> None:
    model, loss = EXAMPLE.build_model()
    groups = optimizers.param_groups(model, EXAMPLE.RULES)
    model.add_gradients(loss)
    optimizers.build_groups(groups, OPTIMIZERS[optimizer], clip=CLIPS[clip])
    ws = nd.Workspace()
    ws.run(model.init_net)
    for name, value in initial(model).items():
        ws.feed(name, value)
    losses = []
    for step in range(20):
        for name, value in batch(step).items():
            ws.feed(name, value)
        ws.run(model.net)
        losses.append(float(ws.fetch("loss")))
    tag = f"{optimizer}-{clip}|"
    np.testing.assert_allclose(losses, GOLDEN[f"{tag}losses"], rtol=2e-5)
    for key in GOLDEN:
        noise = optimizer == "AdamW" and key.endswith(
            "attn_k_b"
        )  # softmax ignores it: AdamW divides rounding by itself
        if key.startswith(tag) and "losses" not in key and not noise:
            np.testing.assert_allclose(ws.fetch(key.removeprefix(tag)), GOLDEN[key], rtol=2e-4, atol=2e-5, err_msg=key)


def test_a_frozen_tower_gets_no_gradient_work() -> None:
    model, loss = EXAMPLE.build_model()
    optimizers.param_groups(model, EXAMPLE.RULES)
    model.add_gradients(loss)
    written = {name for op in model.net.definition.ops for name in op.outputs}
    assert not any(name.startswith("tower/fc_w") for name in written)
    assert "tower/fc_grad" not in written
    assert "head_b_grad" in written


def small_model() -> nd.Model:
    """Parameters named in PyTorch's manner, as in C27."""
    model = nd.Model("m")
    kinds = {
        "backbone.proj.weight": "fc",
        "backbone.proj.bias": "fc",
        "backbone.norm.weight": "layer_norm",
        "backbone.norm.bias": "layer_norm",
        "backbone.attn.relative_position_bias_table": "attention",
        "backbone.absolute_pos_embed": "position",
        "head.query.weight": "embedding",
        "head.fc.weight": "fc",
        "head.fc.bias": "fc",
        "frozen.weight": "fc",
    }
    for name, kind in kinds.items():
        tag = nd.Tag.BIAS if name.endswith(".bias") else nd.Tag.WEIGHT
        model.parameter(name, [2, 2], "ConstantFill", tag=tag, kind=kind)
    return model


def decided(groups: Any, base: float = 0.1) -> dict[str, tuple[float, float]]:
    return {s.parameter.name: (round(base * s.lr_multiplier, 9), s.weight_decay) for s in groups.trained}


def test_c27_without_a_bias_rule() -> None:
    rules = [
        Rule(weight_decay=0.05),
        Rule(scope="backbone", lr_multiplier=0.1),
        Rule(regex="relative_position_bias_table|absolute_pos_embed", weight_decay=0),
        Rule(kind="norm", weight_decay=0),
        Rule(kind="embedding", weight_decay=0.01),
        Rule(name="frozen.*", freeze=True),
    ]
    assert decided(optimizers.param_groups(small_model(), rules)) == {
        "backbone.proj.weight": (0.01, 0.05),
        "backbone.proj.bias": (0.01, 0.05),
        "backbone.norm.weight": (0.01, 0),
        "backbone.norm.bias": (0.01, 0),
        "backbone.attn.relative_position_bias_table": (0.01, 0),
        "backbone.absolute_pos_embed": (0.01, 0),
        "head.query.weight": (0.1, 0.01),
        "head.fc.weight": (0.1, 0.05),
        "head.fc.bias": (0.1, 0.05),
    }


def test_multipliers_multiply_and_the_last_other_value_wins() -> None:
    model = small_model()
    rules = [
        Rule(scope="backbone", lr_multiplier=0.1, weight_decay=1.0, label="backbone"),
        Rule(kind="norm", lr_multiplier=0.5, weight_decay=0.5, label="norms"),
        Rule(tag="bias", momentum=0.3, label="biases"),
    ]
    found = optimizers.param_groups(model, rules)["backbone.norm.bias"]
    assert (found.lr_multiplier, found.weight_decay, found.momentum) == (pytest.approx(0.05), 0.5, 0.3)
    assert found.decided == {"lr_multiplier": "backbone * norms", "weight_decay": "norms", "momentum": "biases"}


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        (
            Rule(dtype="float32", shape=(2, None), name="head.*", momentum=0),
            {"head.query.weight", "head.fc.weight", "head.fc.bias"},
        ),
        (Rule(where=lambda p: p.name.count(".") == 1, momentum=0), {"backbone.absolute_pos_embed", "frozen.weight"}),
        (Rule(scope="head", kind=["embedding", "conv"], momentum=0), {"head.query.weight"}),
        (Rule(shape=(3, None), momentum=0), set()),
    ],
    ids=["dtype, shape and name", "predicate", "scope and kinds", "nothing"],
)
def test_conditions(rule: Rule, names: set[str]) -> None:
    assert {p.name for p in small_model().params() if rule.matches(p)} == names


def test_a_rule_that_matches_nothing_is_reported_with_near_names() -> None:
    with pytest.warns(optimizers.UnmatchedRule, match=r"hed.fc.weight.* matches no parameter.*head.fc.weight"):
        groups = optimizers.param_groups(small_model(), [Rule(name="hed.fc.weight", weight_decay=0)])
    assert len(groups.unmatched) == 1


@pytest.mark.parametrize(
    ("rule", "near"),
    [
        (Rule(kind="layernorm", momentum=0), "layer_norm"),
        (Rule(scope="backbon", momentum=0), "backbone"),
        (Rule(scope="backbone.atn", momentum=0), "backbone.attn"),
        (Rule(regex="^head.fc.wight$", momentum=0), "head.fc.weight"),
    ],
    ids=str,
)
def test_near_names_are_of_the_kind_that_the_rule_matches(rule: Rule, near: str) -> None:
    with pytest.warns(optimizers.UnmatchedRule, match=f"did you mean .*{near}"):
        optimizers.param_groups(small_model(), [rule])


def test_an_optional_rule_may_match_nothing_and_no_rules_decide_nothing() -> None:
    model = small_model()
    assert optimizers.param_groups(model, [Rule(name="x", momentum=0, optional=True)]).unmatched == ()
    groups = optimizers.param_groups(model, [])
    assert len(groups) == len(groups.trained) == 10
    assert all(s.decided == {} and s.lr_multiplier == 1 for s in groups.values())


def test_the_order_of_rules_matters_for_values_and_not_for_multipliers() -> None:
    rules = [
        Rule(weight_decay=0.1, lr_multiplier=0.5, label="a"),
        Rule(tag="bias", weight_decay=0.2, lr_multiplier=0.25, label="b"),
        Rule(kind="fc", weight_decay=0.3, lr_multiplier=3, label="c"),
    ]
    there = optimizers.param_groups(small_model(), rules)["head.fc.bias"]
    back = optimizers.param_groups(small_model(), rules[::-1])["head.fc.bias"]
    assert (there.weight_decay, back.weight_decay) == (0.3, 0.1)
    assert there.lr_multiplier == back.lr_multiplier == 0.375
    assert (there.decided["lr_multiplier"], back.decided["lr_multiplier"]) == ("a * b * c", "c * b * a")


def test_names_with_dots_and_slashes() -> None:
    model = nd.Model("m")
    for name in ("a/b/c_w", "a.b.c", "ab/c_w", "a/b_w", "a[0].w"):
        model.parameter(name, [2])
    found = {
        str(rule): {name for name in model.parameters if rule.matches(model.parameters[name])}
        for rule in (
            Rule(scope="a", momentum=0),
            Rule(scope="a/b/", momentum=0),
            Rule(scope="a.b", momentum=0),
            Rule(scope="", momentum=0),
            Rule(name="a*c*", momentum=0),
            Rule(name="a[[]0].w", momentum=0),
        )
    }
    assert found == {
        "scope='a'": {"a/b/c_w", "a.b.c", "a/b_w"},
        "scope='a/b/'": {"a/b/c_w"},
        "scope='a.b'": {"a.b.c"},
        "scope=''": set(model.parameters),
        "name='a*c*'": {"a/b/c_w", "a.b.c", "ab/c_w"},
        "name='a[[]0].w'": {"a[0].w"},
    }


def test_a_shared_parameter_counts_once_as_its_first_visit_made_it() -> None:
    model = nd.Model("m")
    with nd.name_scope("tokens"):
        layers.embedding(model, model.input("ids", ("N",), "int32"), "fc", 4, 3, dense_gradient=True)
    with model.sharing({"head": "tokens"}), nd.name_scope("head"):
        scores = layers.fc(model, model.input("x", ("N", 3)), "fc", 3, 4)
    model.add_gradients(model.net.AveragedLoss(scores, "loss"))
    rules = [Rule(kind="embedding", weight_decay=0.5), Rule(name="tokens/fc_w", lr_multiplier=0.5)]
    groups = optimizers.param_groups(model, rules)
    assert list(groups) == ["tokens/fc_w", "tokens/fc_b"]
    assert (groups["tokens/fc_w"].weight_decay, groups["tokens/fc_w"].lr_multiplier) == (0.5, 0.5)
    optimizers.build_groups(groups, optimizers.AdamW())
    assert [op.inputs[0] for op in model.net.definition.ops if op.type == "AdamW"] == ["tokens/fc_w", "tokens/fc_b"]


class TestFreezing:
    """By rules and by ``model.freeze``; the last word counts."""

    def test_the_last_rule_wins(self) -> None:
        rules = [Rule(scope="backbone", freeze=True, label="trained already"), Rule(kind="norm", freeze=False)]
        groups = optimizers.param_groups(small_model(), rules)
        assert not groups["backbone.norm.bias"].freeze
        assert groups["backbone.proj.bias"].freeze
        assert "backbone.norm.bias" in decided(groups)

    def test_what_the_model_froze_stays_so_but_for_a_rule(self) -> None:
        model = small_model()
        model.freeze("head.*")
        groups = optimizers.param_groups(model, [Rule(name="head.fc.bias", freeze=False)])
        assert [name for name, s in groups.items() if s.freeze] == ["head.query.weight", "head.fc.weight"]
        assert groups["head.fc.weight"].decided == {"freeze": "model.freeze"}

    def test_later_rules_replace_earlier_ones(self) -> None:
        model = small_model()
        optimizers.param_groups(model, [Rule(scope="head", freeze=True)])
        groups = optimizers.param_groups(model, [Rule(scope="backbone", freeze=True)])
        assert {name for name, s in groups.items() if s.freeze} == {n for n in model.parameters if n.startswith("back")}
        assert not model.parameters["head.fc.bias"].frozen

    def test_a_refused_freeze_changes_nothing(self) -> None:
        model, loss = EXAMPLE.build_model()
        model.add_gradients(loss)
        with pytest.raises(NetError, match="has a gradient already") as caught:
            optimizers.param_groups(model, [Rule(scope="tower", freeze=True, label="the tower")])
        assert caught.value.details["frozen by"] == "the tower"
        assert not any(p.frozen or p.settings for p in model.params())


class TestTables:
    """What people read."""

    def rows(self) -> tuple[nd.Model, list[dict[str, Any]]]:
        model, loss = EXAMPLE.build_model()
        groups = optimizers.param_groups(model, EXAMPLE.RULES)
        model.add_gradients(loss)
        optimizers.build_groups(groups, optimizers.AdamW(base_learning_rate=0.01))
        return model, model.describe()

    def test_which_rule_decided_each_value(self) -> None:
        rows = {row["name"]: row for row in self.rows()[1]}
        assert rows["block1/attn_q_b"]["decided"] == "lr: block1 is trained already; weight decay: tag=bias"
        assert rows["tower/fc_w"]["decided"] == "freeze: scope='tower'"
        assert rows["block1/fc1_w"] | {"gradient": None} == {
            "name": "block1/fc1_w",
            "shape": [16, 8],
            "dtype": "float32",
            "tag": "weight",
            "kind": "fc",
            "copies": {},
            "gradient": None,
            "frozen": False,
            "optimizer": "AdamW",
            "lr": 0.001,
            "weight_decay": 0.05,
            "decay": "decoupled",
            "decided": "lr: block1 is trained already; weight decay: weights decay",
        }

    def test_describe_groups(self) -> None:
        header, *lines = self.rows()[0].describe_groups().splitlines()
        assert header.split() == ["name", "shape", "dtype", "kind", "lr", "weight", "decay", "optimizer", "decided"]
        table = {line.split()[0]: line.split()[1:] for line in lines}
        assert len(table) == len(lines) == 24
        assert table["tokens_w"][:6] == ["11x8", "float32", "embedding", "0.01", "0.01", "decoupled"]
        assert table["tower/fc_w"] == ["8x6", "float32", "fc", "frozen", "freeze:", "scope='tower'"]

    def test_json_show_and_the_picture_have_it(self, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
        model, _ = self.rows()
        io.save(model.net, tmp_path / "train.json")
        assert main(["show", str(tmp_path / "train.json"), "--params"]) == 0
        shown = capsys.readouterr().out
        page = viz.to_html(io.load(tmp_path / "train.json"))
        for text in ("block1/attn_q_b", "decoupled", "lr: block1 is trained already; weight decay: tag=bias"):
            assert text in shown
            assert text in page


def test_the_example_prints_its_table_and_checks_clean(capsys: pytest.CaptureFixture[str]) -> None:
    EXAMPLE.main()
    assert "absolute_pos_embed" in capsys.readouterr().out
    model, loss = EXAMPLE.build_model()
    groups = optimizers.param_groups(model, EXAMPLE.RULES)
    model.add_gradients(loss)
    optimizers.build_groups(groups, optimizers.AdamW(), clip=Clip("full_model", 0.5))
    optimizers.EMA().build(model)
    assert check(model.init_net.definition, model.net.definition) == []


class TestBadRules:
    """Each names what is wrong."""

    @pytest.mark.parametrize(
        ("conditions", "message"),
        [
            ({"lr_multiplier": -0.1}, "'lr_multiplier' is zero or positive"),
            ({"lr_multiplier": "0.1"}, "'lr_multiplier' is a number"),
            ({"weight_decay": float("nan")}, "'weight_decay' is zero or positive"),
            ({"weight_decay": float("inf")}, "'weight_decay' is finite"),
            ({"weight_decay": True}, "'weight_decay' is a number"),
            ({"name": 5, "momentum": 0}, "'name' is of the wrong kind"),
            ({"regex": 5, "momentum": 0}, "'regex' is of the wrong kind"),
            ({"scope": 5, "momentum": 0}, "'scope' is of the wrong kind"),
            ({"where": "x", "momentum": 0}, "'where' is a function"),
            ({"kind": 3, "momentum": 0}, "kind is a list"),
            ({"kind": [3], "momentum": 0}, "kind is a list"),
            ({"shape": 3, "momentum": 0}, "shape is a list"),
            ({"shape": "ab", "momentum": 0}, "shape is a list"),
            ({"dtype": "float33", "momentum": 0}, "'float33' is no dtype"),
            ({"freeze": "yes"}, "'freeze' is of the wrong kind"),
            ({"optimizer": "SGD"}, "'optimizer' is of the wrong kind"),
            ({"optimizer": optimizers.SGD}, "'optimizer' is of the wrong kind"),
        ],
    )
    def test_wrong_values(self, conditions: dict[str, Any], message: str) -> None:
        with pytest.raises(SchemaError, match=message):
            Rule(**conditions)

    def test_an_unmatched_layer_is_named(self) -> None:
        with pytest.warns(optimizers.UnmatchedRule, match=r"'layer 1 of 1' \(scope='blokc'\) matches no parameter"):
            optimizers.param_groups(small_model(), optimizers.layerwise_decay(["blokc"], 0.5))

    @pytest.mark.parametrize("rules", [Rule(momentum=0), [{"momentum": 0}], "rules", [Rule(momentum=0), None]], ids=str)
    def test_no_rules(self, rules: Any) -> None:
        with pytest.raises(SchemaError, match="rules are a list of Rule"):
            optimizers.param_groups(small_model(), rules)

    def test_no_regular_expression(self) -> None:
        with pytest.raises(SchemaError, match="no regular expression") as caught:
            Rule(regex="(", weight_decay=0)
        assert caught.value.details["got"] == "'('"

    def test_negative(self) -> None:
        with pytest.raises(SchemaError, match="'weight_decay' is zero or positive"):
            Rule(weight_decay=-1)

    def test_nothing_set(self) -> None:
        with pytest.raises(SchemaError, match="sets nothing"):
            Rule(name="x")

    def test_unknown_tag(self) -> None:
        with pytest.raises(SchemaError, match="tag is unknown"):
            Rule(tag="wieght", weight_decay=0)

    def test_frozen_too_late(self) -> None:
        model, loss = EXAMPLE.build_model()
        model.add_gradients(loss)
        with pytest.raises(NetError, match="has a gradient already"):
            optimizers.param_groups(model, EXAMPLE.RULES)

    def test_momentum_that_the_optimizer_has_not(self) -> None:
        model, loss = EXAMPLE.build_model()
        groups = optimizers.param_groups(model, [Rule(momentum=0.5)])
        model.add_gradients(loss)
        with pytest.raises(SchemaError, match="AdamW has no momentum"):
            optimizers.build_groups(groups, optimizers.AdamW())

    def test_a_parameter_without_gradient(self) -> None:
        model, loss = EXAMPLE.build_model()
        model.parameter("lonely_w", [3])
        groups = optimizers.param_groups(model, [Rule(weight_decay=0)])
        model.add_gradients(loss)
        with pytest.warns(optimizers.NoGradient, match="'lonely_w' gets no gradient"):
            optimizers.build_groups(groups, optimizers.AdamW())
