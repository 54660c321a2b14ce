"""Name scopes and device scopes."""

from __future__ import annotations

from contextvars import copy_context

import pytest

import netdsl as nd
from netdsl.dsl.scopes import as_device, current_device, current_name_scope
from netdsl.errors import SchemaError
from netdsl.ir import Device


def test_name_scopes_nest_and_end() -> None:
    with nd.name_scope("a") as outer:
        with nd.name_scope("b") as inner:
            assert current_name_scope() == inner == "a/b/"
        assert current_name_scope() == outer == "a/"
    assert current_name_scope() == ""


def test_a_scope_ends_with_an_error_too() -> None:
    with pytest.raises(KeyError), nd.name_scope("a"), nd.device_scope("cuda"):
        raise KeyError
    assert current_name_scope() == ""
    assert current_device() is None


def test_reset_forgets_the_scopes_around() -> None:
    with nd.name_scope("a"):
        with nd.name_scope("b", reset=True):
            assert current_name_scope() == "b/"
        with nd.name_scope("", reset=True):
            assert current_name_scope() == ""
        assert current_name_scope() == "a/"


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(SchemaError, match="needs a name"), nd.name_scope(""):
        pass


def test_a_context_has_its_own_scopes() -> None:
    with nd.name_scope("a"):
        context = copy_context()
    assert context.run(current_name_scope) == "a/"
    assert current_name_scope() == ""


def test_device_scopes_nest_and_none_lifts_them() -> None:
    with nd.device_scope("cuda:1"):
        with nd.device_scope(None):
            assert current_device() is None
        with nd.device_scope(Device("cpu")) as device:
            assert current_device() == device == Device("cpu")
        assert current_device() == Device("cuda", 1)


@pytest.mark.parametrize(
    ("text", "device"),
    [("cpu", Device("cpu")), ("cuda", Device("cuda")), ("cuda:3", Device("cuda", 3)), ("hip:0", Device("hip"))],
)
def test_devices_as_text(text: str, device: Device) -> None:
    assert as_device(text) == device


@pytest.mark.parametrize("text", ["", "gpu", "cuda:", "cuda:-1", "cuda:one", "cuda:1:2", ":1"])
def test_text_that_names_no_device(text: str) -> None:
    with pytest.raises(SchemaError, match="is no device"):
        as_device(text)
