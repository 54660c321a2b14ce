"""Every operator as a method of Net; generated, do not edit."""

from netdsl.dsl._calls.cast import CastCalls
from netdsl.dsl._calls.control import ControlCalls
from netdsl.dsl._calls.fill import FillCalls
from netdsl.dsl._calls.loss import LossCalls
from netdsl.dsl._calls.math import MathCalls
from netdsl.dsl._calls.nn import NnCalls
from netdsl.dsl._calls.optim import OptimCalls
from netdsl.dsl._calls.shape import ShapeCalls
from netdsl.dsl._calls.sparse import SparseCalls
from netdsl.dsl._calls.utility import UtilityCalls

class OpCalls(CastCalls, ControlCalls, FillCalls, LossCalls, MathCalls, NnCalls, OptimCalls, ShapeCalls, SparseCalls, UtilityCalls): ...
