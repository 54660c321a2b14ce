"""The policies of LearningRate: what each multiplies the base learning rate by, and the arguments it takes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import attrs

from netdsl.errors import RunError, SchemaError, did_you_mean

if TYPE_CHECKING:
    from netdsl.ops.optim.learning_rate import LearningRate

COMPOSITE = "composite"
_COMMON = ("base_lr", "policy")


@attrs.frozen
class Policy:
    """One policy: ``multiplier(arguments, iteration)``, the arguments it needs, those it may get, and a rule.

    The ``rule`` keeps its formula from dividing by zero; ``says`` is the rule in words.
    """

    multiplier: Callable[[LearningRate, int], float]
    needs: str = ""
    takes: str = ""
    says: str = ""
    rule: Callable[[LearningRate], bool] = lambda p: True

    def check(self, bound: LearningRate, given: Iterable[str], strict: bool) -> None:
        """Check arguments, bound and as given; when not ``strict``, only what could not be computed.

        Raises:
            SchemaError: the rule is broken; when ``strict``, an argument is missing or would be ignored.
        """
        name, known = bound.policy, (*_COMMON, *self.needs.split(), *self.takes.split())
        for missing in sorted(set(self.needs.split()) - set(given)) if strict else ():
            raise SchemaError(f"LearningRate: policy {name!r} needs the argument {missing!r}", takes=", ".join(known))
        for extra in sorted(set(given) - set(known)) if strict else ():
            near = did_you_mean(extra, known)
            raise SchemaError(
                f"LearningRate: policy {name!r} takes no argument {extra!r}", takes=", ".join(known), did_you_mean=near
            )
        if not self.rule(bound):
            raise SchemaError(f"LearningRate: policy {name!r} needs {self.says}", got=_values(bound, self.says))


def _values(bound: LearningRate, text: str) -> str:
    words = re.findall(r"[a-z]\w+", text)
    return ", ".join(f"{word} = {getattr(bound, word)}" for word in words if hasattr(bound, word))


def power(base: float, exponent: float) -> float:
    """``base ** exponent`` as floating-point hardware has it: infinite or NaN instead of an error."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan


def _alter(p: LearningRate, i: int) -> float:
    at = i % (p.active_period + p.inactive_period)
    return float(at < p.active_period if p.active_first else at >= p.inactive_period)


def _inv(p: LearningRate, i: int) -> float:
    return power(1 + p.gamma * i, -p.power)


def _warm(start: float, count: int, i: int) -> float:
    return 1.0 if i >= count else start + (1 - start) * i / count


def _hill(p: LearningRate, i: int) -> float:
    if i < p.num_iter:
        return _warm(p.start_multiplier, p.num_iter, i)
    return max(p.end_multiplier, _inv(p, i - p.num_iter))


def _slope(p: LearningRate, i: int) -> float:
    first, last = p.multiplier_1 or 0.0, p.multiplier_2 or 0.0
    if i < p.num_iter_1:
        return first
    return max(last, first + (i - p.num_iter_1) * (last - first) / (p.num_iter_2 - p.num_iter_1))


def _gate(p: LearningRate, i: int) -> float:
    chosen = p.multiplier_1 if i < p.num_iter else p.multiplier_2
    return 1.0 if chosen is None else chosen


def _piece(p: LearningRate, i: int) -> float:
    return p.m1 if i < p.n1 else p.m2 if i < p.n2 else p.m3


def _triangle(base_lr: float, max_lr: float, stepsize: int, decay: float, i: int) -> float:
    cycle = i // (2 * stepsize)
    height = 1 - abs(i / stepsize - 2 * cycle - 1)
    return 1 + (abs(max_lr) / abs(base_lr) - 1) * max(0.0, height) * power(decay, cycle)


def _restarts(high: float, low: float, first: int, longer: float, shrink: float, i: int) -> float:
    if longer == 1:
        done, length = i // first, float(first)
        since = i - done * first
    else:
        left = 1 - i / first * (1 - longer)
        if left <= 0:
            end = math.ceil(first / (1 - longer))
            raise RunError(
                "LearningRate: ever shorter cosine periods have come to their end",
                expected=f"less than iteration {end}",
                got=i,
            )
        done = math.floor(math.log(left) / math.log(longer))
        length = power(longer, done) * first
        since = i - (1 - power(longer, done)) / (1 - longer) * first
    return power(shrink, done) * (low + 0.5 * (high - low) * (1 + math.cos(math.pi * since / length)))


def _two_warmups(p: LearningRate, i: int) -> float:
    since = i - p.constant_warmup_num_iter
    return p.start_warmup_multiplier if since < 0 else _warm(p.start_warmup_multiplier, p.linear_warmup_num_iter, since)


def _after_warmups(p: LearningRate, i: int, then: Callable[[int], float]) -> float:
    since = i - p.constant_warmup_num_iter - p.linear_warmup_num_iter
    return _two_warmups(p, i) if since < 0 else then(since)


def _cyclical(p: LearningRate, i: int) -> float:
    return _triangle(p.base_lr, 0.005 if p.max_lr is None else p.max_lr, p.stepsize, p.decay, i)


def _composite_cyclical(p: LearningRate, i: int) -> float:
    args = p.base_lr, p.cyclical_max_lr, p.cyclical_step_size, p.cyclical_decay
    return _after_warmups(p, i, lambda since: _triangle(*args, since))


def _cosine(p: LearningRate, i: int) -> float:
    return _restarts(0.5 if p.max_lr is None else p.max_lr, p.min_lr, p.period, p.t_mult, p.lr_shrink, i)


def _composite_cosine(p: LearningRate, i: int) -> float:
    args = p.cosine_max_lr, p.cosine_min_lr, p.cosine_period, p.cosine_t_mult, p.cosine_lr_shrink
    return _after_warmups(p, i, lambda since: _restarts(*args, since))


def _composite(p: LearningRate, i: int) -> float:
    end = 1
    for part, scale, count in zip(p.parts, p.scales, p.sub_policy_num_iters, strict=True):
        end += count
        if i < end:
            return part.multiplier_at(i) * scale
    return p.parts[-1].multiplier_at(i) * p.scales[-1]


_WARMUPS = "start_warmup_multiplier constant_warmup_num_iter linear_warmup_num_iter"

POLICIES: dict[str, Policy] = {
    "fixed": Policy(lambda p, i: 1.0),
    "alter": Policy(
        _alter,
        "active_period inactive_period",
        "active_first",
        "active_period + inactive_period > 0",
        lambda p: p.active_period + p.inactive_period > 0,
    ),
    "hill": Policy(_hill, "num_iter gamma power", "start_multiplier end_multiplier"),
    "slope": Policy(
        _slope,
        "num_iter_1 num_iter_2",
        "multiplier_1 multiplier_2",
        "num_iter_2 > num_iter_1",
        lambda p: p.num_iter_2 > p.num_iter_1,
    ),
    "step": Policy(
        lambda p, i: power(p.gamma, i // p.stepsize), "stepsize gamma", "", "stepsize > 0", lambda p: p.stepsize > 0
    ),
    "exp": Policy(lambda p, i: power(p.gamma, i), "gamma"),
    "gate": Policy(_gate, "", "multiplier_1 multiplier_2 num_iter"),
    "inv": Policy(_inv, "gamma power"),
    "poly": Policy(
        lambda p, i: power(1 - i / p.max_iter, p.power),
        "max_iter power",
        "",
        "max_iter, which may not be 0",
        lambda p: p.max_iter != 0,
    ),
    "linearWarmup": Policy(lambda p, i: _warm(p.start_multiplier, p.num_iter, i), "num_iter", "start_multiplier"),
    "constantWarmup": Policy(lambda p, i: p.multiplier if i < p.num_iter else 1.0, "num_iter", "multiplier"),
    "pieceWarmup": Policy(_piece, "", "m1 n1 m2 n2 m3"),
    COMPOSITE: Policy(_composite, "sub_policy_num_iters"),
    "cyclical": Policy(
        _cyclical,
        "stepsize",
        "max_lr decay",
        "stepsize > 0 and a base_lr that is not 0",
        lambda p: p.stepsize > 0 and p.base_lr != 0,
    ),
    "constantThenLinearWarmup": Policy(_two_warmups, "", _WARMUPS),
    "compositeCyclical": Policy(
        _composite_cyclical,
        "",
        f"{_WARMUPS} cyclical_max_lr cyclical_step_size cyclical_decay",
        "cyclical_step_size > 0 and a base_lr that is not 0",
        lambda p: p.cyclical_step_size > 0 and p.base_lr != 0,
    ),
    "cosine": Policy(
        _cosine,
        "",
        "max_lr min_lr period t_mult lr_shrink",
        "period > 0 and t_mult > 0",
        lambda p: p.period > 0 and p.t_mult > 0,
    ),
    "compositeCosine": Policy(
        _composite_cosine,
        "",
        f"{_WARMUPS} cosine_max_lr cosine_min_lr cosine_period cosine_t_mult cosine_lr_shrink",
        "cosine_period > 0 and cosine_t_mult > 0",
        lambda p: p.cosine_period > 0 and p.cosine_t_mult > 0,
    ),
}
"""Every policy by name."""
