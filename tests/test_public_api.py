"""The names that ``import netdsl`` offers, and the record of the whole public interface."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import netdsl
import netdsl.ir
from tools import gen_public_api

HOMES = {**netdsl._NAMES, **netdsl._MODULES}
ROOT = Path(__file__).resolve().parent.parent


def test_import_is_quick_and_needs_nothing(fresh_python):
    code = """
import time
start = time.perf_counter()
import netdsl
print(time.perf_counter() - start)
heavy = {"numpy", "attrs", "attr", "networkx", "google.protobuf", "rich", "cupy"} & {*sys.modules}
assert not heavy, heavy
"""
    assert min(float(fresh_python(code)) for _ in range(3)) < 0.1


@pytest.mark.parametrize("name", sorted(name for name, home in HOMES.items() if gen_public_api.exists(home)))
def test_every_public_name_is_there(name):
    assert getattr(netdsl, name) is getattr(netdsl, name)
    assert name in dir(netdsl)


def test_a_name_is_the_object_of_its_home():
    assert netdsl.NetDef is netdsl.ir.NetDef
    assert netdsl.errors is sys.modules["netdsl.errors"]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'netdsl' has no attribute 'Nett'") as caught:
        netdsl.Nett
    assert (caught.value.name, caught.value.obj) == ("Nett", netdsl), "Python suggests near names from these"


@pytest.mark.parametrize("path", ["netdsl/__init__.pyi", "tests/public_api.txt"])
def test_the_record_of_the_interface_is_fresh(path):
    wanted = gen_public_api.generate()[path]
    assert (ROOT / path).read_text("utf-8") == wanted, "run: python tools/regen.py"
