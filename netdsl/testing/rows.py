"""What holds of outputs that are written by rows, into the array that the body is given (see ``Out.rows``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.errors import NetdslError
from netdsl.ops.schema import Computes
from netdsl.runtime import backends
from netdsl.testing.case import Case
from netdsl.testing.plain import execute


def by_rows(case: Case) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Name and value of each fed array that is written by rows, and the indices of these."""
    found: list[tuple[str, np.ndarray, np.ndarray]] = []
    outs, feeds = case.record.outputs, case.feeds
    for index, name in enumerate(outs):
        formal: Any = case.declared.formal_outputs.formal_at(index, len(outs))
        if formal.rows is None or name not in feeds:
            continue
        at = case.declared.formal_inputs.first_index(formal.rows, len(case.inputs))
        if at is not None and case.record.inputs[at] in feeds:
            found.append((name, feeds[name], feeds[case.record.inputs[at]]))
    return found


def writes_only_the_rows_it_names(case: Case) -> None:
    """Rows that no index names keep their bits."""
    blobs = execute(case.net, case.feeds)
    for name, table, indices in by_rows(case):
        others = np.setdiff1d(np.arange(len(table)), indices)
        assert blobs[name][others].tobytes() == table[others].tobytes(), f"{name}: rows that are not named changed"


def writes_nothing_where_it_refuses(case: Case) -> None:
    """An index behind the last row is refused before the first row is written."""
    _, table, indices = by_rows(case)[0]
    wrong = indices.copy()
    wrong.reshape(-1)[-1] = len(table)
    given = [wrong if x is indices else x.copy() for x in case.feeds.values()]
    made, library = case.bound, backends.get("numpy")
    assert isinstance(made, Computes), "only a pure body writes by rows"
    try:
        with library.scope():
            made.compute(library.xp, *case.declared.formal_inputs.group(given))
    except NetdslError:
        pass
    else:
        raise AssertionError(f"index {len(table)} should be refused by a table of {len(table)} rows")
    for name, before, after in zip(case.feeds, case.feeds.values(), given, strict=True):
        assert after is wrong or before.tobytes() == after.tobytes(), f"{name} changed, then the index was refused"
