"""Every kind of finding: its code, what it means, and the smallest net that has it.

Codes are stable: N1xx say that a net cannot run, N2xx that types clash, N3xx that training goes wrong, N4xx
that something is useless or overwritten. The documentation is generated from here, and a test holds
every example against the check.
"""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Rule:
    """A kind of finding: a stable code, a name, whether it is an error, and what ``--explain`` prints.

    ``example`` is a net that has the finding, ``init`` the init net that belongs to it.
    """

    code: str
    name: str
    is_error: bool
    what: str
    why: str
    fix: str
    example: str
    init: str = ""

    @property
    def severity(self) -> str:
        """ "error" for what cannot run or computes something else, "warning" for what is probably not meant."""
        return "error" if self.is_error else "warning"

    @property
    def text(self) -> str:
        """What ``--explain`` prints."""
        nets = f"{self.init}\n{self.example}" if self.init else self.example
        example = "".join(f"    {line}\n" if line else "\n" for line in nets.splitlines())
        head = f"{self.code} {self.name} ({self.severity})"
        return f"{head}\n\nWhat: {self.what}\nWhy:  {self.why}\nFix:  {self.fix}\n\nExample:\n\n{example}"


UNKNOWN_OPERATOR = Rule(
    code="N101",
    name="unknown-operator",
    is_error=True,
    what="An operator has a type that nothing declares.",
    why="The net loads, prints and draws, but it cannot run past this operator.",
    fix="Correct the type's name, or import the module that declares the operator.",
    example="""\
net "n"
input x
y = Rellu(x)  # meant: Relu
output y
""",
)
BAD_USE = Rule(
    code="N102",
    name="bad-use",
    is_error=True,
    what="An operator is used against its declaration: number of blobs, values of arguments, or an overwritten input.",
    why="The operator will refuse to run.",
    fix="Give it what `netdsl ops NAME` says it takes.",
    example="""\
net "n"
input x
input w
y = FC(x, w)  # FC takes X, W and b
output y
""",
)
MISSING_INPUT = Rule(
    code="N103",
    name="missing-input",
    is_error=True,
    what="A blob is read, but no operator before it, no `input` line and no init net provides it.",
    why="The run fails before its first operator, because the blob does not exist.",
    fix="Correct the name, move the operator behind the one that writes the blob, or declare an `input`.",
    example="""\
net "n"
input data
hidden = Relu(data)
y = Tanh(hiden)  # meant: hidden
output y
""",
)
MISSING_OUTPUT = Rule(
    code="N104",
    name="missing-output",
    is_error=True,
    what="An output is declared that no operator computes.",
    why="Who asks for the output gets an error instead.",
    fix="Correct the name, or remove the `output` line.",
    example="""\
net "n"
input x
scores = Relu(x)
output score  # meant: scores
""",
)
UNMADE = Rule(
    code="N105",
    name="unmade-state",
    is_error=True,
    what="The net trains or counts up a blob that the init net does not make.",
    why="Such a blob must exist before the first step, and nobody feeds it.",
    fix="Let the init net make it; if you load it into the workspace yourself, ignore the finding.",
    init="""\
net "init"
w = XavierFill() {shape = [3, 4]}
b = ConstantFill() {shape = [3]}
rate = ConstantFill() {shape = [1], value = -0.1}
# missing: one = ConstantFill() {shape = [1], value = 1.0}
""",
    example="""\
net "train"
input x: float32[N, 4]
input label: int32[N]
input w: float32[3, 4]
input b: float32[3]
input one, rate
scores = FC(x, w, b)
softmax, loss = SoftmaxWithLoss(scores, label)
loss_autogen_grad = ConstantFill(loss) {value = 1.0}
scores_grad = SoftmaxWithLossGradient(scores, label, softmax, loss_autogen_grad)
w_grad, b_grad, x_grad = FCGradient(x, w, scores_grad)
w = WeightedSum(w, one, w_grad, rate)
b = WeightedSum(b, one, b_grad, rate)
output loss
""",
)
UNKNOWN_ARGUMENT = Rule(
    code="N106",
    name="unknown-argument",
    is_error=False,
    what="An operator has an argument that its declaration does not know.",
    why="It is kept but does nothing; a misspelt argument leaves the default in force.",
    fix="Correct the name; `netdsl ops NAME` lists the arguments.",
    example="""\
net "n"
input x
y = LeakyRelu(x) {alhpa = 0.1}  # meant: alpha
output y
""",
)
SWAPPED = Rule(
    code="N107",
    name="swapped-nets",
    is_error=True,
    what="The net that is to run first reads what the other one makes, or trains; so it is no init net.",
    why="It cannot run first. Nothing else is checked, because all of it would follow from this.",
    fix="Name the init net first: `netdsl check INIT NET`.",
    init="""\
net "n"
input x: float32[3]
input w: float32[3]
y = Add(x, w)
output y
""",
    example="""\
net "init"
w = ConstantFill() {shape = [3]}
""",
)
FOREIGN_FUNCTION = Rule(
    code="N108",
    name="foreign-function",
    is_error=True,
    what="An operator calls a Python function that nothing in this process allows.",
    why="A function that a file names would run as your own code; so the operator will refuse to run, and nothing is "
    "imported for it.",
    fix="Look at what the function does. If you trust it, allow it: Workspace(python=[...]), netdsl.python_function "
    "where it is defined, or --allow-python of a command.",
    example="""\
net "n"
input x
y = Python(x) {function = "builtins:eval"}  # the file chose the function, and may choose x
output y
""",
)
TYPES = Rule(
    code="N201",
    name="type-clash",
    is_error=True,
    what="An operator cannot take its inputs: their shapes or dtypes do not fit.",
    why="The operator will refuse to run.",
    fix="Change the blob, the argument or the layer that does not fit.",
    example="""\
net "n"
input x: float32[N, 8]
input w: float32[3, 9]  # 8 features, not 9
input b: float32[3]
y = FC(x, w, b)
output y
""",
)
PRECISION = Rule(
    code="N202",
    name="precision-clash",
    is_error=True,
    what="Half and single precision meet in one operator.",
    why="Operators do not convert by themselves; the operator will refuse to run.",
    fix="Put FloatToHalf or HalfToFloat between, or use the parameter's copy in the other precision.",
    example="""\
net "n"
input x: float16[N, 8]
input w: float32[3, 8]  # read w's copy in float16 instead
input b: float16[3]
y = FC(x, w, b)
output y
""",
)
INIT_TYPES = Rule(
    code="N203",
    name="init-clash",
    is_error=True,
    what="The init net makes a blob of another type than the net declares.",
    why="The first run fails, or the net computes something else than it says.",
    fix="Make the fill's shape and dtype those of the `input` line, or correct the line.",
    init="""\
net "init"
w = XavierFill() {shape = [3, 9]}
b = ConstantFill() {shape = [3]}
""",
    example="""\
net "n"
input x: float32[N, 8]
input w: float32[3, 8]
input b: float32[3]
y = FC(x, w, b)
output y
""",
)
NOT_UPDATED = Rule(
    code="N301",
    name="no-update",
    is_error=False,
    what="A parameter gets a gradient, but nothing updates it, while others are trained.",
    why="It stays at its first value, and its gradient is computed for nothing.",
    fix="Build the optimizer for it too, or freeze it before adding gradients; if it is frozen, ignore the finding.",
    init=UNMADE.init.replace("# missing: ", ""),
    example=UNMADE.example.replace(
        "b = WeightedSum(b, one, b_grad, rate)\n", "# missing: b = WeightedSum(b, one, b_grad, rate)\n"
    ),
)
UPDATED_TWICE = Rule(
    code="N302",
    name="updated-twice",
    is_error=False,
    what="A parameter is updated by more than one operator in a step.",
    why="Usually an optimizer was built twice; the step is then too long.",
    fix="Keep one update for each parameter.",
    init=NOT_UPDATED.init,
    example=UNMADE.example.replace("output", "w = WeightedSum(w, one, w_grad, rate)\noutput"),
)
STALE_COPY = Rule(
    code="N303",
    name="stale-copy",
    is_error=False,
    what="A parameter exists in half and in single precision; one of them is trained and the other never changes.",
    why="The two drift apart: who reads the other one (the forward pass, a checkpoint) gets untrained numbers. And an "
    "update in half precision loses every step smaller than a rounding, which is what the single copy is for.",
    fix="Update the single-precision blob and round it into the half one, as MultiPrecisionSGD and MasterWeightSGD do.",
    init="""\
net "init"
w_fp32 = XavierFill() {shape = [3, 4]}
w = FloatToHalf(w_fp32)
b = Float16ConstantFill() {shape = [3]}
w_momentum = Float16ConstantFill() {shape = [3, 4]}
b_momentum = Float16ConstantFill() {shape = [3]}
rate = ConstantFill() {shape = [1], value = 0.1}
""",
    example="""\
net "train"
input x: float16[N, 4]
input w: float16[3, 4]
input b: float16[3]
input w_momentum, b_momentum
input rate
scores = FC(x, w, b)
scores_autogen_grad = ConstantFill(scores) {dtype = 12, value = 1.0}
w_grad, b_grad, x_grad = FCGradient(x, w, scores_autogen_grad)
w_grad, w_momentum, w = FP16MomentumSGDUpdate(w_grad, w_momentum, rate, w)  # w_fp32 is left behind
b_grad, b_momentum, b = FP16MomentumSGDUpdate(b_grad, b_momentum, rate, b)
output scores
""",
)
WRONG_GRADIENT = Rule(
    code="N304",
    name="wrong-gradient",
    is_error=False,
    what="The backward pass is not the one that the forward pass has.",
    why="After a change to the forward pass the old gradient operators compute the gradient of another net.",
    fix="Change the gradient operator too, or build the net anew and call add_gradients again.",
    init=NOT_UPDATED.init,
    example="""\
net "train"
input x: float32[N, 4]
input w: float32[3, 4]
input b: float32[3]
input one, rate
hidden = FC(x, w, b)
loss = Tanh(hidden)  # was Relu, as its gradient still is
loss_autogen_grad = ConstantFill(loss) {value = 1.0}
hidden_grad = ReluGradient(loss, loss_autogen_grad)
w_grad, b_grad, x_grad = FCGradient(x, w, hidden_grad)
w = WeightedSum(w, one, w_grad, rate)
b = WeightedSum(b, one, b_grad, rate)
output loss
""",
)
LOST_UPDATE = Rule(
    code="N305",
    name="lost-update",
    is_error=False,
    what="An update reads a blob that lives across steps, and writes its new value under a name that nothing reads.",
    why="The next step starts from the old value again: a parameter is not trained, a momentum is forgotten.",
    fix="Let the update write over what it reads.",
    init="""\
net "init"
w = XavierFill() {shape = [3]}
w_momentum = ConstantFill() {shape = [3]}
rate = ConstantFill() {shape = [1], value = 0.1}
""",
    example="""\
net "train"
input x: float32[3]
input w: float32[3]
input w_momentum, rate
loss = Mul(x, w)
loss_autogen_grad = ConstantFill(loss) {value = 1.0}
x_grad, w_grad = MulGradient(loss_autogen_grad, x, w)
w_grad, w_momentun, w = MomentumSGDUpdate(w_grad, w_momentum, rate, w)  # meant: w_momentum
output loss
""",
)
DEAD = Rule(
    code="N401",
    name="dead-operator",
    is_error=False,
    what="Nothing reads what an operator computes, and it has no effect.",
    why="It costs time in every run.",
    fix="Remove it, or declare its result as an `output`.",
    example="""\
net "n"
input x
y = Relu(x)
z = Tanh(x)  # nobody reads z
output y
""",
)
UNUSED_FILL = Rule(
    code="N402",
    name="unused-fill",
    is_error=False,
    what="The init net makes a blob that neither net reads.",
    why="It costs memory, and is often a sign of a misspelt name.",
    fix="Remove it, or correct the name where it should be read.",
    init="""\
net "init"
w = ConstantFill() {shape = [3]}
v = ConstantFill() {shape = [3]}  # nobody reads v
""",
    example="""\
net "n"
input x: float32[3]
input w: float32[3]
y = Add(x, w)
output y
""",
)
LOST_WRITE = Rule(
    code="N403",
    name="lost-write",
    is_error=False,
    what="A blob is written, and overwritten before anything reads it.",
    why="The first value is lost; two operators probably share a name by mistake.",
    fix="Give one of them another output, or remove the first.",
    example="""\
net "n"
input x
y = Relu(x)
y = Tanh(x)
output y
""",
)
HAZARD = Rule(
    code="N404",
    name="in-place-hazard",
    is_error=True,
    what="The backward pass needs a blob as it was, but a forward operator overwrites it.",
    why="The gradient would be computed from the wrong value.",
    fix="Let the operator that overwrites it write a fresh blob.",
    example="""\
net "n"
input x: float32[N, 4]
input w: float32[3, 4]
input b: float32[3]
loss = FC(x, w, b)
x = Relu(x)  # the gradient of FC needs x as it was
loss_autogen_grad = ConstantFill(loss) {value = 1.0}
w_grad, b_grad, x_grad = FCGradient(x, w, loss_autogen_grad)
output loss, x
""",
)

RULES = {
    rule.code: rule
    for rule in (
        UNKNOWN_OPERATOR,
        BAD_USE,
        MISSING_INPUT,
        MISSING_OUTPUT,
        UNMADE,
        UNKNOWN_ARGUMENT,
        SWAPPED,
        FOREIGN_FUNCTION,
        TYPES,
        PRECISION,
        INIT_TYPES,
        NOT_UPDATED,
        UPDATED_TWICE,
        STALE_COPY,
        WRONG_GRADIENT,
        LOST_UPDATE,
        DEAD,
        UNUSED_FILL,
        LOST_WRITE,
        HAZARD,
    )
}
"""Every rule by its code."""
