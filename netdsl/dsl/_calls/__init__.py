"""Operator methods of Net; their signatures stand in the stubs beside this file."""


class OpCalls:
    """Nothing at run time: Net finds operators by name."""
