"""What optimizers say to settings that they do not have, or that are of the wrong kind."""

from __future__ import annotations

import inspect
import pickle

import attrs
import pytest

from netdsl import optimizers
from netdsl.errors import SchemaError
from netdsl.optimizers import EMA, SGD, SWA, Adam, Clip, LossScale, MasterWeightSGD, Optimizer, Rule

CLASSES = sorted(
    (c for c in map(vars(optimizers).get, optimizers.__all__) if isinstance(c, type) and attrs.has(c)),
    key=lambda c: c.__name__,
)
BY_KEYWORD = [c for c in CLASSES if c.__name__ not in ("Optimizer", "BuiltOptimizer")]


@pytest.mark.parametrize("cls", BY_KEYWORD)
def test_an_unknown_setting_is_named_with_those_there_are(cls: type) -> None:
    known = ", ".join(field.name for field in attrs.fields(cls))
    with pytest.raises(SchemaError, match=f"^{cls.__name__} takes no 'zzzz'") as caught:
        cls(zzzz=1)
    assert caught.value.details == {"expected": known}


@pytest.mark.parametrize(
    ("cls", "name", "near"),
    [
        (SGD, "lr", "base_learning_rate"),
        (SGD, "momentm", "momentum"),
        (Rule, "wd", "weight_decay"),
        (Rule, "lr_mult", "lr_multiplier"),
        (EMA, "decya", "decay"),
        (Clip, "limits", "limit"),
        (LossScale, "intial", "initial"),
    ],
)
def test_near_settings_are_offered(cls: type, name: str, near: str) -> None:
    with pytest.raises(SchemaError) as caught:
        cls(**{name: 0.1})
    assert near in str(caught.value.details["did you mean"])


def test_values_without_a_name() -> None:
    with pytest.raises(SchemaError, match="SGD takes no values without a name"):
        SGD(0.1)  # type: ignore[misc]
    with pytest.raises(SchemaError, match="Clip takes 3 values without a name"):
        Clip("norm", 1.0, 2.0, 4)  # type: ignore[call-arg]
    assert Clip("norm", 1.0) == Clip(kind="norm", limit=1.0)


@pytest.mark.parametrize(
    ("cls", "given"),
    [
        (SGD, {"base_learning_rate": "a"}),
        (SGD, {"momentum": "a"}),
        (SGD, {"nesterov": "a"}),
        (SGD, {"nesterov": None}),
        (SGD, {"policy": 3}),
        (SGD, {"schedule": 3}),
        (Adam, {"base_learning_rate": None}),
        (Adam, {"beta1": "a"}),
        (LossScale, {"growth_interval": 1.5}),
        (LossScale, {"dynamic": 3}),
        (MasterWeightSGD, {"loss_scale": 1024}),
        (SWA, {"start": 0}),
        (Rule, {"lr_multiplier": 1.0, "label": 3}),
    ],
)
def test_values_of_the_wrong_kind(cls: type, given: dict[str, object]) -> None:
    *_, name = given
    with pytest.raises(SchemaError, match=f"^{cls.__name__}: '{name}'"):
        cls(**given)


def test_editors_pickles_and_copies_see_plain_classes() -> None:
    assert "momentum" in inspect.signature(SGD).parameters
    made = SGD(momentum=0.5)
    assert pickle.loads(pickle.dumps(made)) == made
    assert attrs.evolve(made, momentum=0.25) == SGD(momentum=0.25)


def test_an_optimizer_with_a_constructor_of_its_own_is_left_alone() -> None:
    class Half(SGD):
        def __init__(self, rate: float) -> None:
            super().__init__(base_learning_rate=rate / 2)

    assert isinstance(Half(0.5), Optimizer)
    assert Half(rate=0.5).base_learning_rate == 0.25
