"""Parameter groups: what the rules decided for each parameter, and the updates that follow from it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from netdsl.dsl import Parameter
from netdsl.errors import NetError, did_you_mean
from netdsl.optimizers.base import Optimizer, Trainable
from netdsl.optimizers.rules import Rule

DEFAULT = "default"
"""What decided a value that no rule set."""


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
    frozen: bool = False
    decided: dict[str, str] = attrs.field(factory=dict[str, str])

    def apply(self, rule: Rule) -> None:
        """Take over what ``rule`` sets; multipliers multiply, of other values the last wins."""
        if rule.lr_multiplier is not None:
            self.lr_multiplier *= rule.lr_multiplier
            before = self.decided.get("lr_multiplier")
            self.decided["lr_multiplier"] = f"{before} * {rule}" if before else str(rule)
        for name in ("weight_decay", "decoupled", "momentum", "optimizer"):
            value = getattr(rule, name)
            if value is not None:
                setattr(self, name, value)
                self.decided[name] = str(rule)
        if rule.freeze:
            self.frozen = True
            self.decided["frozen"] = str(rule)


class ParamGroups(Mapping[str, Settings]):
    """The settings of every parameter of a model, by name; made by :func:`param_groups`."""

    def __init__(self, model: Trainable, rules: Sequence[Rule], settings: Mapping[str, Settings]) -> None:
        self.model, self.rules = model, tuple(rules)
        self._settings = dict(settings)
        self.unmatched = tuple(
            r for r in rules if not r.optional and not any(r.matches(s.parameter) for s in settings.values())
        )

    def __getitem__(self, parameter: Any) -> Settings:
        return self._settings[str(parameter)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    @property
    def trained(self) -> list[Settings]:
        """The settings of parameters that are not frozen."""
        return [s for s in self._settings.values() if not s.frozen]


def param_groups(model: Trainable, rules: Sequence[Rule]) -> ParamGroups:
    """Decide by ordered ``rules`` how each parameter of ``model`` is trained.

    A shared parameter counts once, under the name of its first visit. Parameters that a rule freezes get
    neither gradient work nor an update, so rules that freeze are applied before ``model.add_gradients``.

    Warns:
        UnmatchedRule: for each rule that matched no parameter, with the near names.

    Raises:
        NetError: a rule freezes a parameter that has a gradient already.
    """
    settings = {p.name: Settings(p, frozen=p.frozen) for p in model.params()}
    for found in settings.values():
        if found.frozen:
            found.decided["frozen"] = "model.freeze"
        for rule in rules:
            if rule.matches(found.parameter):
                found.apply(rule)
    groups = ParamGroups(model, rules, settings)
    for found in settings.values():
        _freeze(found)
    for rule in groups.unmatched:
        near = did_you_mean(rule.name or rule.scope or rule.regex or "", settings)
        hint = f"; did you mean {near}?" if near else ""
        warnings.warn(f"rule {str(rule)!r} matches no parameter of model {model.name!r}{hint}", UnmatchedRule, 2)
    return groups


def _freeze(found: Settings) -> None:
    parameter = found.parameter
    if found.frozen and parameter.grad is not None:
        raise NetError(
            f"parameter {parameter.name!r} is frozen, but has a gradient already",
            frozen_by=found.decided["frozen"],
            fix="apply rules that freeze before model.add_gradients",
        )
    parameter.frozen = found.frozen
    parameter.settings["decided"] = found.decided
