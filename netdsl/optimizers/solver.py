"""``build_optimizer``: parameter groups and updates from a detectron-style SOLVER configuration."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import attrs

from netdsl.dsl import Parameter, Tag
from netdsl.errors import FileFormatError, MissingExtraError, SchemaError, did_you_mean
from netdsl.optimizers.adamw import AdamW
from netdsl.optimizers.base import Optimizer, Trainable
from netdsl.optimizers.checks import check_number
from netdsl.optimizers.clipping import KINDS, Clip
from netdsl.optimizers.grouped import build_groups
from netdsl.optimizers.groups import ParamGroups, Settings, param_groups
from netdsl.optimizers.master import LossScale
from netdsl.optimizers.rules import Rule
from netdsl.optimizers.sgd import SGD

Reading = Literal["as_meant", "as_written"]

DEFAULTS: Mapping[str, Any] = {
    "OPTIMIZER": "SGD",
    "BASE_LR": 0.001,
    "MOMENTUM": 0.9,
    "NESTEROV": False,
    "WEIGHT_DECAY": 0.0001,
    "WEIGHT_DECAY_NORM": 0.0,
    "WEIGHT_DECAY_EMBED": 0.0,
    "WEIGHT_DECAY_BIAS": 0.0,
    "LR_MULTIPLIER": {},
    "BACKBONE_MULTIPLIER": 1.0,
    "CLIP_GRADIENTS": {},
    "LR_SCHEDULER_NAME": "WarmupMultiStepLR",
    "MAX_ITER": 40000,
    "STEPS": (30000,),
    "GAMMA": 0.1,
    "POLY_LR_POWER": 0.9,
    "POLY_LR_CONSTANT_ENDING": 0.0,
    "WARMUP_FACTOR": 1.0,
    "WARMUP_ITERS": 0,
    "WARMUP_METHOD": "linear",
}
"""Every key of SOLVER that is heeded, and its default, whose kind the value has."""

ELSEWHERE = ("IMS_PER_BATCH", "REFERENCE_WORLD_SIZE", "CHECKPOINT_PERIOD", "AMP")
"""Keys of SOLVER that say nothing of groups or schedule; the report names those that were given."""

CLIP_DEFAULTS: Mapping[str, Any] = {"ENABLED": False, "CLIP_TYPE": "full_model", "CLIP_VALUE": 1.0, "NORM_TYPE": 2.0}
OPTIMIZERS = ("SGD", "ADAMW")
BASE = "_BASE_"
"""The key by which a YAML file names the one whose values it changes."""
TUPLE = re.compile(r"\(\s*(\d+\s*(,\s*\d+\s*)*,?\s*)?\)")
"""How these files write STEPS; to YAML it is a text."""
SCHEDULERS = {"WarmupMultiStepLR": "multistep", "WarmupCosineLR": "cosine", "WarmupPolyLR": "poly"}
POSITION_TABLES = ("relative_position_bias_table", "absolute_pos_embed")
ENDINGS = {"w": "weight", "b": "bias", "s": "weight", "scale": "weight", "bias": "bias"}
"""How names in Caffe2's manner end, and what PyTorch calls such a parameter."""


@attrs.frozen
class Difference:
    """One parameter that the two readings of the bias rule treat differently."""

    parameter: str
    as_written: float | None
    as_meant: float | None

    def __str__(self) -> str:
        return f"{self.parameter}: weight decay {self.as_written:g} as written, {self.as_meant:g} as meant"


@attrs.frozen
class BuiltOptimizer:
    """What :func:`build_optimizer` did: the groups, the optimizer, and where the readings differ.

    ``unused`` are keys of the configuration that say nothing of groups or schedule.
    """

    groups: ParamGroups
    optimizer: Optimizer
    reading: Reading
    differences: tuple[Difference, ...]
    unused: tuple[str, ...] = ()

    def report(self) -> str:
        """Say in a few lines what was built and where the two readings of the bias rule differ."""
        lines = [f"{type(self.optimizer).__name__} for {len(self.groups.trained)} parameters, bias rule {self.reading}"]
        lines += [f"  {difference}" for difference in self.differences]
        lines += [f"  rule {str(rule)!r} matches no parameter" for rule in self.groups.unmatched]
        lines += [f"  SOLVER.{key} is not used" for key in self.unused]
        return "\n".join(lines)


def build_optimizer(
    cfg: Mapping[str, Any] | str | os.PathLike[str],
    model: Trainable,
    *,
    reading: Reading = "as_meant",
    loss_scale: LossScale | None = None,
) -> BuiltOptimizer:
    """Append the updates that a configuration with a ``SOLVER`` section asks for.

    ``cfg`` is a mapping or the path of a YAML file. For each parameter, in this order: LR_MULTIPLIER and
    BACKBONE_MULTIPLIER multiply the rate; the decay is WEIGHT_DECAY, 0 for position tables,
    WEIGHT_DECAY_NORM in norms, WEIGHT_DECAY_EMBED in embeddings, WEIGHT_DECAY_BIAS for biases; the last that
    applies wins. ``reading`` says what a bias is: ``as_meant`` a parameter whose own last name is ``bias`` or
    whose tag is; ``as_written`` every parameter of a module with ``bias`` in its name.

    Raises:
        SchemaError: an unknown key, optimizer, schedule or reading; a value of the wrong kind or a negative one.
        NetError: no parameter has a gradient, or one is trained already.
        FileFormatError, MissingExtraError: a YAML file that cannot be read.
    """
    solver = read_solver(cfg)
    optimizer, clip = _optimizer(solver), _clip(solver["CLIP_GRADIENTS"])
    groups = param_groups(model, solver_rules(solver, reading))
    build_groups(groups, optimizer, clip=clip, loss_scale=loss_scale)
    unused = tuple(key for key in ELSEWHERE if key in solver)
    return BuiltOptimizer(groups, optimizer, reading, _differences(model, solver), unused)


# ---------------------------------------------------------------------- the configuration


def read_solver(cfg: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """Return the SOLVER section with its defaults, checked."""
    whole = cfg if isinstance(cfg, Mapping) else _yaml(cfg)
    if BASE in whole:
        raise SchemaError(f"{BASE} is read from YAML files only", got=repr(whole[BASE]), fix="give the merged mapping")
    given = whole.get("SOLVER")
    if given is None:
        near = did_you_mean("SOLVER", [str(key) for key in whole])
        raise SchemaError("the configuration has no SOLVER section", did_you_mean=near)
    if isinstance(given, Mapping) and isinstance(steps := given.get("STEPS"), str) and TUPLE.fullmatch(steps):
        given = {**given, "STEPS": tuple(map(int, re.findall(r"\d+", steps)))}
    solver = {**DEFAULTS, **_section("SOLVER", given, DEFAULTS, ELSEWHERE)}
    clip = _section("SOLVER.CLIP_GRADIENTS", solver["CLIP_GRADIENTS"], CLIP_DEFAULTS)
    solver["CLIP_GRADIENTS"] = {**CLIP_DEFAULTS, **clip}
    for key, factor in solver["LR_MULTIPLIER"].items():
        if not isinstance(key, str):
            raise SchemaError("SOLVER.LR_MULTIPLIER: a key is part of a parameter's name", got=repr(key))
        check_number(f"SOLVER.LR_MULTIPLIER[{key!r}]", factor)
    if sorted(solver["STEPS"]) != list(solver["STEPS"]):
        raise SchemaError("SOLVER.STEPS are in order", got=solver["STEPS"])
    return solver


def _yaml(path: str | os.PathLike[str], above: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """Read a YAML file, and the one that it names as its base; ``above`` are the files that named this one."""
    if not isinstance(path, str | os.PathLike):
        raise SchemaError("a configuration is a mapping or the path of a YAML file", got=repr(path))
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("reading a YAML file needs PyYAML", fix="pip install 'netdsl[formats]'") from None
    try:
        with open(path, encoding="utf-8") as file:
            found = yaml.safe_load(file)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{os.fspath(path)} is no YAML file", problem=str(error).splitlines()[0]) from None
    if not isinstance(found, Mapping):
        raise FileFormatError(f"{os.fspath(path)} holds no configuration", expected="a mapping with a SOLVER section")
    if BASE not in found:
        return found
    base, chain = found[BASE], (*above, os.path.realpath(path))
    if not isinstance(base, str):
        raise SchemaError(f"{os.fspath(path)}: {BASE} is the path of a YAML file", got=repr(base))
    base = os.path.join(os.path.dirname(path), base)
    if os.path.realpath(base) in chain:
        raise SchemaError(f"{os.fspath(path)}: {BASE} leads back to a file that names it", got=base)
    return _merged(_yaml(base, chain), {key: value for key, value in found.items() if key != BASE})


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with the values of ``over``; mappings in both are merged in turn."""
    made = {**base, **over}
    for key in base.keys() & over.keys():
        if isinstance(base[key], Mapping) and isinstance(over[key], Mapping):
            made[key] = _merged(base[key], over[key])
    return made


def _section(where: str, given: Any, known: Mapping[str, Any], elsewhere: Sequence[str] = ()) -> Mapping[str, Any]:
    """Return a section whose keys are known and whose values are of the kind of their defaults."""
    if not isinstance(given, Mapping):
        raise SchemaError(f"{where} is no mapping", got=repr(given))
    for key, value in given.items():
        if key in known:
            _check_kind(f"{where}.{key}", value, known[key])
        elif key not in elsewhere:
            near = did_you_mean(str(key), known)
            raise SchemaError(f"{where} has no key {key!r}", keys=", ".join(known), did_you_mean=near)
    return given


def _check_kind(where: str, value: Any, default: Any) -> None:
    if isinstance(default, float):
        check_number(where, value, infinite=where.endswith("NORM_TYPE"))
        return
    kinds: dict[type, tuple[Callable[[Any], bool], str]] = {
        bool: (lambda v: isinstance(v, bool), "true or false"),
        int: (_is_count, "a whole number, zero or positive"),
        str: (lambda v: isinstance(v, str), "a text"),
        tuple: (lambda v: isinstance(v, list | tuple) and all(map(_is_count, v)), "a list of whole numbers"),
        dict: (lambda v: isinstance(v, Mapping), "a mapping"),
    }
    holds, expected = kinds[type(default)]
    if not holds(value):
        raise SchemaError(f"{where} is {expected}", got=repr(value))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _choice(key: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        near = did_you_mean(value, known)
        raise SchemaError(f"SOLVER.{key}: {value!r} is unknown", expected=", ".join(known), did_you_mean=near)
    return value


def _optimizer(solver: Mapping[str, Any]) -> Optimizer:
    name = _choice("OPTIMIZER", solver["OPTIMIZER"].upper(), OPTIMIZERS)
    common: dict[str, Any] = {"base_learning_rate": float(solver["BASE_LR"]), **_schedule(solver)}
    if name == "SGD":
        return SGD(momentum=float(solver["MOMENTUM"]), nesterov=solver["NESTEROV"], **common)
    return AdamW(weight_decay=float(solver["WEIGHT_DECAY"]), **common)


def _schedule(solver: Mapping[str, Any]) -> dict[str, Any]:
    policy = SCHEDULERS[_choice("LR_SCHEDULER_NAME", solver["LR_SCHEDULER_NAME"], tuple(SCHEDULERS))]
    schedule: dict[str, Any] = {"warmup_iters": solver["WARMUP_ITERS"]}
    if policy == "multistep":
        schedule.update(steps=list(solver["STEPS"]), gamma=float(solver["GAMMA"]))
    elif not solver["MAX_ITER"]:
        raise SchemaError(f"SOLVER.MAX_ITER is positive with {solver['LR_SCHEDULER_NAME']}", got=0)
    else:
        schedule["max_iter"] = solver["MAX_ITER"]
    if policy == "poly":
        schedule["power"] = float(solver["POLY_LR_POWER"])
        schedule["end_lr"] = solver["POLY_LR_CONSTANT_ENDING"] * float(solver["BASE_LR"])
        if solver["POLY_LR_CONSTANT_ENDING"] > 1:
            raise SchemaError("SOLVER.POLY_LR_CONSTANT_ENDING is at most 1", got=solver["POLY_LR_CONSTANT_ENDING"])
    warmup = _choice("WARMUP_METHOD", solver["WARMUP_METHOD"], ("linear", "constant"))
    if solver["WARMUP_ITERS"]:
        schedule["warmup"] = warmup
        schedule["warmup_factor"] = float(solver["WARMUP_FACTOR"])
    return {"rate_operator": "WarmupLearningRate", "policy": policy, "schedule": schedule}


def _clip(given: Mapping[str, Any]) -> Clip | None:
    if not given["ENABLED"]:
        return None
    for key in ("CLIP_VALUE", "NORM_TYPE"):
        check_number(f"SOLVER.CLIP_GRADIENTS.{key}", given[key], positive=True, infinite=key == "NORM_TYPE")
    kind = _choice("CLIP_GRADIENTS.CLIP_TYPE", given["CLIP_TYPE"], KINDS)
    return Clip(kind, float(given["CLIP_VALUE"]), float(given["NORM_TYPE"]))


# ---------------------------------------------------------------------- the rules


def module_and_name(parameter: Parameter) -> tuple[str, str]:
    """A parameter's module and its own last name, in PyTorch's manner: ``("backbone.fc1", "weight")``.

    Names in Caffe2's manner (``backbone/fc1_w``) are split at their ending.
    """
    scope, _, last = parameter.name.rpartition("/")
    prefix = scope.replace("/", ".")
    module, dot, name = last.rpartition(".")
    if not dot:
        stem, underscore, ending = last.rpartition("_")
        if underscore and ending in ENDINGS:
            module, name = stem, ENDINGS[ending]
        else:
            module, name = "", last
    return ".".join(part for part in (prefix, module) if part), name


def solver_rules(solver: Mapping[str, Any], reading: Reading) -> list[Rule]:
    """Return the seed's decisions as ordered rules."""
    rules = [Rule(weight_decay=float(solver["WEIGHT_DECAY"]), label="WEIGHT_DECAY")]
    for key, factor in solver["LR_MULTIPLIER"].items():
        label = f"LR_MULTIPLIER[{key}]"
        rules.append(Rule(where=_contains(key), lr_multiplier=float(factor), label=label, sought=key))
    if solver["BACKBONE_MULTIPLIER"] != 1.0:
        factor = float(solver["BACKBONE_MULTIPLIER"])
        rules.append(Rule(where=_in_backbone, lr_multiplier=factor, label="BACKBONE_MULTIPLIER"))
    decays: list[tuple[str, dict[str, Any], float]] = [
        ("position tables", {"where": _is_position_table}, 0.0),
        ("WEIGHT_DECAY_NORM", {"kind": "norm"}, float(solver["WEIGHT_DECAY_NORM"])),
        ("WEIGHT_DECAY_EMBED", {"kind": "embedding"}, float(solver["WEIGHT_DECAY_EMBED"])),
        (f"WEIGHT_DECAY_BIAS {reading}", {"where": _bias_rule(reading)}, float(solver["WEIGHT_DECAY_BIAS"])),
    ]
    return rules + [Rule(weight_decay=decay, label=label, optional=True, **given) for label, given, decay in decays]


def _contains(key: str) -> Callable[[Parameter], bool]:
    def contains(parameter: Parameter) -> bool:
        return key in "{}.{}".format(*module_and_name(parameter)) or key in parameter.name

    return contains


def _in_backbone(parameter: Parameter) -> bool:
    return "backbone" in module_and_name(parameter)[0]


def _is_position_table(parameter: Parameter) -> bool:
    return any(table in module_and_name(parameter)[1] for table in POSITION_TABLES)


def _is_bias(parameter: Parameter) -> bool:
    return re.split(r"[./]", parameter.name)[-1] == "bias" or parameter.tag is Tag.BIAS


def _is_in_bias_module(parameter: Parameter) -> bool:
    return "bias" in module_and_name(parameter)[0]


def _bias_rule(reading: Reading) -> Callable[[Parameter], bool]:
    rules = {"as_meant": _is_bias, "as_written": _is_in_bias_module}
    if not isinstance(reading, str) or reading not in rules:
        near = did_you_mean(str(reading), rules)
        raise SchemaError(f"no reading is called {reading!r}", expected=", ".join(rules), did_you_mean=near)
    return rules[reading]


def _differences(model: Trainable, solver: Mapping[str, Any]) -> tuple[Difference, ...]:
    """The parameters whose decay the two readings decide differently."""
    found: list[Difference] = []
    for parameter in model.params():
        decays: list[float | None] = []
        for reading in ("as_written", "as_meant"):
            settings = Settings(parameter)
            for rule in solver_rules(solver, reading):
                if rule.matches(parameter):
                    settings.apply(rule)
            decays.append(settings.weight_decay)
        if decays[0] != decays[1] and not parameter.frozen:
            found.append(Difference(parameter.name, *decays))
    return tuple(found)
