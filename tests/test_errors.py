"""Errors as other processes read them."""

from __future__ import annotations

import copy
import pickle

import pytest

from netdsl import errors
from netdsl.errors import NetdslError, ParseError, RunError

CLASSES = sorted(
    (each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, NetdslError)),
    key=lambda each: each.__name__,
)


class Odd(Exception):
    """An exception that cannot be unpickled, as many are."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} of {two}")


class Stubborn:
    def __reduce__(self) -> str:
        raise TypeError("not sent")

    def __str__(self) -> str:
        return "stubborn"


@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_keeps_type_details_and_notes(cls, again):
    error = cls("what\x1b", read_by="y = Relu(x)", expected=3)
    error.tell(added_at="a.py:3", expected=4)
    error.add_note("while running")
    found = again(error)
    assert type(found) is cls
    assert str(found) == str(error) == "what\\x1b\n  read by  : y = Relu(x)\n  expected : 3\n  added at : a.py:3"
    assert found.details == error.details
    assert found.__notes__ == ["while running"]
    assert found.what == "what\x1b"


def test_a_parse_error_keeps_its_place():
    error = pickle.loads(pickle.dumps(ParseError("what", line=3, column=7, at="a.net:3:7")))
    assert (error.line, error.column, str(error)) == (3, 7, "what\n  at : a.net:3:7")


def test_details_that_cannot_be_sent_are_sent_as_text():
    error = RunError("what", why=Odd(1, 2), got=Stubborn(), shape=(2, 3))
    found = pickle.loads(pickle.dumps(error))
    assert str(found) == str(error) == "what\n  why   : 1 of 2\n  got   : stubborn\n  shape : (2, 3)"
    assert found.details == {"why": "1 of 2", "got": "stubborn", "shape": (2, 3)}
