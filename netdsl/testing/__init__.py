"""Checks for authors of operators, inside this package and outside of it; see docs/operators-testing.md."""

from netdsl.testing.arrays import integers, normal, spread, uniform
from netdsl.testing.case import Case
from netdsl.testing.checks import CHECKS, Check, backend_agrees, check_case, check_operator, checks_for
from netdsl.testing.plain import Plain, execute

__all__ = [
    "CHECKS",
    "Case",
    "Check",
    "Plain",
    "backend_agrees",
    "check_case",
    "check_operator",
    "checks_for",
    "execute",
    "integers",
    "normal",
    "spread",
    "uniform",
]
