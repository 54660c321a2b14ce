"""Every operator as a method of Net; generated, do not edit."""

from netdsl.dsl._calls.control import ControlCalls
from netdsl.dsl._calls.nn import NnCalls
from netdsl.dsl._calls.optim import OptimCalls
from netdsl.dsl._calls.shape import ShapeCalls

class OpCalls(ControlCalls, NnCalls, OptimCalls, ShapeCalls): ...
