"""Parameter groups: what the rules decided for each parameter."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from netdsl.dsl import Parameter
from netdsl.errors import NetError, SchemaError, did_you_mean
from netdsl.optimizers.base import Optimizer, Trainable
from netdsl.optimizers.rules import SETTINGS, Rule

MODEL = "model.freeze"
"""What decided a freeze that no rule did."""


class UnmatchedRule(UserWarning):
    """A rule that matched no parameter: usually a misspelt name."""


@attrs.define
class Settings:
    """What the rules decided for one parameter. None leaves a value to the optimizer.

    ``decided`` names the rule (or rules, of a product) that decided each value.
    """

    parameter: Parameter
    lr_multiplier: float = 1.0
    weight_decay: float | None = None
    decoupled: bool | None = None
    momentum: float | None = None
    optimizer: Optimizer | None = None
    freeze: bool = False
    decided: dict[str, str] = attrs.field(factory=dict[str, str])

    def apply(self, rule: Rule) -> None:
        """Take over what ``rule`` sets; multipliers multiply, of other values the last wins."""
        for name in SETTINGS:
            value = getattr(rule, name)
            if value is None:
                continue
            product = name == "lr_multiplier" and name in self.decided
            setattr(self, name, self.lr_multiplier * value if name == "lr_multiplier" else value)
            self.decided[name] = f"{self.decided[name]} * {rule}" if product else str(rule)


class ParamGroups(Mapping[str, Settings]):
    """The settings of every parameter of a model, by name; made by :func:`param_groups`."""

    def __init__(
        self, model: Trainable, settings: Mapping[str, Settings], rules: Sequence[Rule], unmatched: Sequence[Rule]
    ) -> None:
        self.model, self.rules, self.unmatched = model, tuple(rules), tuple(unmatched)
        self._settings = dict(settings)

    def __getitem__(self, parameter: Any) -> Settings:
        return self._settings[str(parameter)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    @property
    def trained(self) -> list[Settings]:
        """The settings of parameters that are not frozen."""
        return [s for s in self._settings.values() if not s.freeze]


def param_groups(model: Trainable, rules: Sequence[Rule]) -> ParamGroups:
    """Decide by ordered ``rules`` how each parameter of ``model`` is trained.

    A shared parameter counts once, under the name of its first visit. Parameters that a rule freezes get
    neither gradient work nor an update, so rules that freeze are applied before ``model.add_gradients``.
    The rules of a later call replace those of an earlier one; what ``model.freeze`` froze stays so, unless
    a rule says ``freeze=False``.

    Warns:
        UnmatchedRule: for each rule that matched no parameter, with the near names.

    Raises:
        SchemaError: something that is no rule.
        NetError: a rule freezes a parameter that has a gradient already.
    """
    _check_rules(rules)
    settings = {p.name: _start(p) for p in model.params()}
    matched: set[int] = set()
    for found in settings.values():
        for at, rule in enumerate(rules):
            if rule.matches(found.parameter):
                matched.add(at)
                found.apply(rule)
    for found in settings.values():
        _check_frozen(found)
    for found in settings.values():
        found.parameter.frozen = found.freeze
        found.parameter.settings["decided"] = found.decided
    unmatched = [rule for at, rule in enumerate(rules) if at not in matched and not rule.optional]
    for rule in unmatched:
        near = _near(rule, settings)
        hint = f"; did you mean {near}?" if near else ""
        which = f" ({attrs.evolve(rule, label='')})" if rule.label and not rule.sought else ""
        warnings.warn(f"rule {str(rule)!r}{which} matches no parameter of model {model.name!r}{hint}", UnmatchedRule, 2)
    return ParamGroups(model, settings, rules, unmatched)


def _check_rules(rules: Any) -> None:
    wrong = [rule for rule in rules if not isinstance(rule, Rule)] if isinstance(rules, Sequence) else [rules]
    if wrong:
        raise SchemaError("rules are a list of Rule", expected="[Rule(...), ...]", got=str(wrong[0]))


def _start(parameter: Parameter) -> Settings:
    """Settings that no rule has touched; a freeze by an earlier call's rules does not count."""
    by = parameter.settings.get("decided", {}).get("freeze", MODEL)
    if parameter.frozen and by == MODEL:
        return Settings(parameter, freeze=True, decided={"freeze": MODEL})
    return Settings(parameter)


def _check_frozen(found: Settings) -> None:
    if found.freeze and found.parameter.grad is not None:
        raise NetError(
            f"parameter {found.parameter.name!r} is frozen, but has a gradient already",
            frozen_by=found.decided["freeze"],
            fix="apply rules that freeze before model.add_gradients",
        )


def _near(rule: Rule, settings: Mapping[str, Settings]) -> str | None:
    """What the rule may have meant: a kind, a scope or a name of the model."""
    if rule.kind:
        return did_you_mean(rule.kind[0], {"norm", *(s.parameter.kind for s in settings.values())})
    if rule.scope is not None:
        scopes = {name[: at.start()] for name in settings for at in re.finditer(r"[/.]", name)}
        return did_you_mean(rule.scope, scopes)
    if rule.sought:
        parts = {part for name in settings for part in re.split(r"[/.]", name)}
        return did_you_mean(rule.sought, parts | {part.rpartition("_")[0] for part in parts})
    return did_you_mean(rule.name or rule.regex or "", settings)
