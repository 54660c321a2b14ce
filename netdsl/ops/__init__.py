"""What operators are: schema, inference, gradient and one generic body. No array library is imported here."""

from netdsl.ops.schema import Operator, all_types, bound, is_known, lookup, operator

__all__ = ["Operator", "all_types", "bound", "is_known", "lookup", "operator"]
