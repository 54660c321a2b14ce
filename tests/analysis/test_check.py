"""What ``check`` finds, in the example of every code and after edits of a net by hand."""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import pytest

import netdsl as nd
from netdsl import initializers, io, layers, optimizers
from netdsl.analysis.check import check
from netdsl.analysis.rules import RULES
from netdsl.analysis.training import Training
from netdsl.cli.digits.model import PRECISIONS, build
from netdsl.ir import NetDef, parse
from tools.gen_check import generate

ROOT = Path(__file__).resolve().parent.parent.parent
MODELS = ROOT / "tests" / "data" / "models"


def codes(init: NetDef | None, net: NetDef | None = None) -> list[str]:
    return [finding.code for finding in check(init, net)]


# ---------------------------------------------------------------------- every code


@pytest.mark.parametrize("code", RULES)
def test_the_example_of_a_code_has_that_finding_and_no_other(code):
    rule = RULES[code]
    init = parse(rule.init) if rule.init else None
    assert codes(init, parse(rule.example)) == [code]


def test_what_is_said_of_every_example_is_as_documented():
    """docs/check.md is the golden text of all messages; ``python tools/regen.py check`` writes it anew."""
    (path, text), *_ = generate().items()
    assert (ROOT / path).read_text("utf-8") == text


@pytest.mark.parametrize("code", RULES)
def test_every_code_is_explained(code):
    rule = RULES[code]
    assert rule.code == code
    for text in (rule.what, rule.why, rule.fix):
        assert text.endswith(".")
    assert rule.example in rule.text.replace("\n    ", "\n")


def test_names_of_rules_are_different():
    assert len({rule.name for rule in RULES.values()}) == len(RULES)


# ---------------------------------------------------------------------- nets without findings


@pytest.mark.parametrize("precision", PRECISIONS)
def test_nothing_is_found_in_the_nets_of_the_demo(precision):
    model = build(precision)
    init, net = model.init_net.definition, model.net.definition
    assert check(init, net) == []
    assert check(parse(model.init_net.dump()), parse(model.net.dump())) == []
    assert check(net) == []
    assert check(init) == []


@pytest.mark.parametrize(
    "optimizer",
    [
        optimizers.SGD(momentum=0.9, lars=0.5),
        optimizers.SGD(),
        optimizers.Adam(),
        optimizers.Adagrad(),
        optimizers.MultiPrecisionSGD(momentum=0.9, lars=0.5),
    ],
    ids=lambda made: type(made).__name__,
)
def test_nothing_is_found_in_what_an_optimizer_builds(optimizer):
    model, loss = small()
    model.add_gradients(loss)
    optimizers.add_weight_decay(model, 0.01)
    optimizer.build(model)
    model.net.output(loss)
    assert check(model.init_net.definition, model.net.definition) == []


@pytest.mark.parametrize("dynamic", [True, False])
def test_nothing_is_found_in_master_weights_with_loss_scaling(dynamic):
    model, loss = small(initializers.PseudoFP16Initializer)
    scale = optimizers.LossScale(dynamic=dynamic)
    model.add_gradients(scale.scaled(model, loss))
    optimizers.MasterWeightSGD(loss_scale=scale, momentum=0.9).build(model)
    model.net.output(loss)
    assert check(model.init_net.definition, model.net.definition) == []


def test_nothing_is_found_in_sparse_updates():
    model = nd.Model("m")
    ids = model.input("ids", (None,), "int32")
    rows = layers.embedding(model, ids, "table", 10, 4)
    loss = model.net.AveragedLoss(rows, "loss")
    model.add_gradients(loss)
    optimizers.SGD(momentum=0.9).build(model)
    model.net.output(loss)
    assert check(model.init_net.definition, model.net.definition) == []


def test_frozen_parameters_are_let_be():
    model, loss = small()
    model.freeze("fc2_*")
    model.add_gradients(loss)
    optimizers.SGD().build(model)
    model.net.output(loss)
    model.save_tables()
    assert check(model.init_net.definition, model.net.definition) == []


def test_branches_read_blobs_of_the_net_around_them():
    net = nd.Net("n")
    x = net.input("x", (2,))
    branch = nd.Net("branch")
    branch.Relu("x", "y")
    branch.output("y")
    condition = net.ConstantFill([], "yes", shape=[1], value=1, dtype="bool")
    net.If([condition, x], ["y"], then_net=branch.definition)
    net.output("y")
    assert check(net.definition) == []


FILES = sorted(path for path in MODELS.rglob("*.pb*") if path.parent.name != "glow")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_real_net_has_no_finding_but_operators_nobody_declares(path):
    assert set(codes(io.load(path))) <= {"N101"}


def test_a_real_pair_of_nets_has_no_finding():
    folder = MODELS / "super_resolution"
    assert check(io.load(folder / "init_net.pb"), io.load(folder / "predict_net.pb")) == []


def small(initializer: type[initializers.Initializer] | None = None) -> tuple[nd.Model, nd.Blob]:
    """Two layers and a loss; in half precision where the initializer says so."""
    model = nd.Model("m")
    model.initializer_class = initializer
    x = model.input("x", ("N", 4))
    label = model.input("label", ("N",), "int32")
    x = model.net.FloatToHalf(x, "x_half") if initializer else x
    hidden = layers.relu(model, layers.fc(model, x, "fc1", 4, 5), "fc1_relu")
    scores = layers.fc(model, hidden, "fc2", 5, 3)
    scores = model.net.HalfToFloat(scores, "scores") if initializer else scores
    return model, layers.softmax_with_loss(model, scores, label)


# ---------------------------------------------------------------------- Caffe2's flaw


@pytest.mark.parametrize("initializer", ["PseudoFP16Initializer", "ReversePseudoFP16Initializer"])
def test_fp16_sgd_leaves_every_master_behind(initializer):
    model = nd.Model("m")
    model.initializer_class = getattr(initializers, initializer)
    reverse = initializer.startswith("Reverse")
    x = model.input("x", ("N", 4), "float32" if reverse else "float16")
    loss = model.net.AveragedLoss(layers.fc(model, x, "fc", 4, 3), "loss")
    model.add_gradients(loss)
    if reverse:  # the single blobs are trained in half: their gradients must be halves
        for parameter in model.params():
            parameter.grad = model.net.FloatToHalf(parameter.grad, f"{parameter.grad}_half")
    optimizers.FP16SGD(momentum=0.9).build(model)
    model.net.output(loss)
    found = check(model.init_net.definition, model.net.definition)
    trained, stale = ("{}_fp16", "{}") if reverse else ("{}", "{}_fp32")
    assert [f.code for f in found] == ["N303", "N303"]
    for finding, name in zip(found, ("fc_w", "fc_b"), strict=True):
        assert finding.blob == stale.format(name)
        start = f"{trained.format(name)!r} is trained, but its copy {stale.format(name)!r} in float32 never changes"
        assert finding.message == start + (", though the forward pass reads it" if reverse else "")
        assert str(finding.where).startswith(__file__)


# ---------------------------------------------------------------------- edits by hand


HALF = build("half")
INIT, TRAIN = HALF.init_net.dump(), HALF.net.dump()


def edited(old: str, new: str, *, of: str = TRAIN) -> NetDef:
    assert of.count(old) >= 1, f"the text has no {old!r}"
    return parse(of.replace(old, new, 1), "init.net" if of is INIT else "train.net")


def after(old: str, new: str, *, of: str = TRAIN) -> list[str]:
    """What is found after one edit, as text."""
    made = edited(old, new, of=of)
    nets = (made, parse(TRAIN, "train.net")) if of is INIT else (parse(INIT, "init.net"), made)
    return [str(finding) for finding in check(*nets)]


def line_of(start: str) -> str:
    (found,) = (line for line in TRAIN.splitlines() if line.startswith(start))
    return f"{found}\n"


def number_of(start: str) -> int:
    return TRAIN.splitlines().index(line_of(start).rstrip()) + 1


def test_another_activation_needs_another_gradient():
    (text,) = after("fc1_relu = Relu(fc1)", "fc1_relu = Tanh(fc1)")
    at, forward = number_of("fc1_grad ="), number_of("fc1_relu =")
    assert text.splitlines() == [
        "warning[N304] `fc1_relu = Tanh(fc1)` has the gradient `fc1_grad = TanhGradient(fc1_relu, fc1_relu_grad)`",
        "  in          : fc1_grad = ReluGradient(fc1_relu, fc1_relu_grad)     (operator 16 of net 'digits')",
        f"  added at    : train.net:{at}",
        f"  gradient of : fc1_relu = Tanh(fc1)     (operator 7 of net 'digits', train.net:{forward})",
    ]


def test_the_gradient_changed_as_well_is_in_order():
    text = TRAIN.replace("fc1_relu = Relu(fc1)", "fc1_relu = Tanh(fc1)")
    text = text.replace("fc1_grad = ReluGradient", "fc1_grad = TanhGradient")
    assert check(parse(INIT), parse(text)) == []


def test_a_new_layer_lacks_its_gradient():
    first, second = after("fc1_relu = Relu(fc1)", "fc1_tanh = Tanh(fc1)\nfc1_relu = Relu(fc1_tanh)")
    assert "lacks its gradient `fc1_tanh_grad = ReluGradient(fc1_relu, fc1_relu_grad)`" in first
    assert "`fc1_tanh = Tanh(fc1)` has the gradient `fc1_grad = TanhGradient(fc1_tanh, fc1_tanh_grad)`" in second


def test_a_misspelt_blob_is_found_once_with_near_names():
    (text,) = after("fc1_relu = Relu(fc1)", "fc1_relu = Relu(fcl)")
    assert text.splitlines() == [
        "error[N103] blob 'fcl' is read, but nothing provides it",
        "  in           : fc1_relu = Relu(fcl)     (operator 7 of net 'digits')",
        f"  added at     : train.net:{number_of('fc1_relu =')}",
        "  did you mean : fc1",
    ]


def test_a_misspelt_output_is_found_where_it_is_read():
    (text,) = after("fc1_relu = Relu(fc1)", "fc1_rellu = Relu(fc1)")
    assert text.startswith("error[N103] blob 'fc1_relu' is read")
    assert "did you mean : fc1_rellu" in text


def test_another_kernel_fits_neither_weight_nor_gradient():
    conv = "conv1 = Conv(data_half, conv1_w, conv1_b) {kernel = 3, pad = 1}"
    clash, gradient = after(conv, conv.replace("3, pad = 1", "5, pad = 2"))
    assert clash.startswith("error[N201] Conv:")
    assert "conv1_w: float16[16, 1, 3, 3]" in clash
    assert "kernel 5 there, 3 here, pad 2 there, 1 here" in gradient


def test_a_parameter_whose_update_is_gone_is_named_and_so_is_its_idle_state():
    fill, text = after(line_of("conv1_w_grad_fp32, conv1_w_momentum, conv1_w_fp32 ="), "")
    assert fill.startswith("warning[N402] neither net reads 'conv1_w_momentum'")
    assert text.startswith("warning[N301] parameter 'conv1_w' has the gradient 'conv1_w_grad', but nothing updates it")


def test_a_half_copy_that_is_no_longer_rounded_from_its_master_is_stale():
    (text,) = after("conv1_w = FloatToHalf(conv1_w_fp32)\n", "")
    first, *rest = text.splitlines()
    assert first == (
        "warning[N303] 'conv1_w_fp32' is trained, but its copy 'conv1_w' in float16 never changes,"
        " though the forward pass reads it"
    )
    assert (
        rest[-1]
        == "  copied by : conv1_w = FloatToHalf(conv1_w_fp32)     (operator 1 of net 'digits_init', init.net:3)"
    )


def test_an_update_twice():
    update = line_of("conv1_w_grad_fp32, conv1_w_momentum, conv1_w_fp32 =")
    (text,) = after(update, update + update)
    assert text.startswith("warning[N302] 'conv1_w_fp32' is updated by 2 operators")


def test_a_dead_operator():
    (text,) = after("pool = MaxPool", "extra = Tanh(conv2_relu)\npool = MaxPool")
    assert text.startswith("warning[N401] nothing reads 'extra'")


def test_every_operator_of_a_dead_chain_is_named():
    found = after("pool = MaxPool", "one = Tanh(conv2_relu)\ntwo = Sigmoid(one)\npool = MaxPool")
    assert [text.splitlines()[0] for text in found] == [
        "warning[N401] nothing reads 'one'",
        "warning[N401] nothing reads 'two'",
    ]


def test_another_shape_in_the_init_net_is_found_once():
    (text,) = after(
        "fc1_w_fp32 = XavierFill() {shape = [64, 512]}", "fc1_w_fp32 = XavierFill() {shape = [64, 256]}", of=INIT
    )
    first, where, added, reader = text.splitlines()
    assert first == (
        "error[N203] the init net makes 'fc1_w_fp32' as float32[64, 256], but net 'digits' declares float32[64, 512]"
    )
    assert where.endswith("fc1_w_fp32 = XavierFill()     (operator 8 of net 'digits_init')")
    assert added == "  added at : init.net:10"
    assert "train.net:" in reader


def test_state_that_the_init_net_does_not_make():
    (text,) = after("iteration_mutex = CreateMutex()", "iteration_muttex = CreateMutex()", of=INIT)
    assert text.startswith("error[N105] nothing makes 'iteration_mutex' before the first step")
    assert "did you mean : iteration_muttex" in text


def test_a_removed_conversion_mixes_precisions():
    found = after("conv1 = Conv(data_half,", "conv1 = Conv(data,")
    assert found[0].startswith("error[N202] Conv: inputs must share one dtype")


@pytest.mark.parametrize("change", [("base_lr = 0.1", "base_lr = 0.5"), ("momentum = 0.9", "momentum = 0.8")])
def test_harmless_changes_are_let_be(change):
    assert after(*change) == []


def test_an_operator_in_the_wrong_place_says_where_the_blob_is_written():
    relu = line_of("fc1_relu =")
    text = TRAIN.replace(relu, "").replace(line_of("scores_half ="), line_of("scores_half =") + relu)
    (found,) = check(parse(INIT), parse(text))
    assert found.message == "blob 'fc1_relu' is read, but it is written only later"
    assert found.notes == (("written by", "fc1_relu = Relu(fc1)"),)


def renamed(text: str, old: str, new: str) -> str:
    return re.sub(rf"\b{old}\b", new, text)


@pytest.mark.parametrize(
    "name", ["data_half", "conv1_relu", "pool", "fc1", "scores_half", "loss", "fc1_w", "fc1_w_fp32"]
)
def test_a_blob_under_another_name_has_its_gradient_still(name):
    """Its gradient keeps the old name, which nothing can be the worse for."""
    init, train = parse(renamed(INIT, name, "other")), parse(renamed(TRAIN, name, "other"))
    assert check(init, train) == []
    assert {use.name: use.gradient for use in Training(train, init).parameters()}.keys() == {
        "other" if use.name == name else use.name for use in Training(parse(TRAIN), parse(INIT)).parameters()
    }


def test_a_gradient_under_the_name_of_another_is_wrong():
    first, *_ = after("fc1_w_grad, fc1_b_grad, pool_grad =", "fc1_b_grad, fc1_w_grad, pool_grad =")
    assert first.startswith("warning[N304] `fc1 = FC(pool, fc1_w, fc1_b)` has the gradient `fc1_w_grad, fc1_b_grad")


@pytest.mark.parametrize("same", ['{kernel = 3, order = "NCHW", pad = 1}', "{group = 1, kernel = 3.0, pad = 1}"])
def test_arguments_that_mean_the_same_are_let_be(same):
    assert after("conv2_b) {kernel = 3, pad = 1}", f"conv2_b) {same}") == []


def test_only_arguments_that_differ_in_meaning_are_told():
    conv = "conv2_b) {kernel = 3, pad = 1}"
    (text,) = after(conv, 'conv2_b) {dilation = 2, kernel = 3, order = "NCHW", pad = 2}')
    told = text.splitlines()[0].rpartition("`: ")[2]
    assert told == "dilation 2 there, not given here, pad 2 there, 1 here"


@pytest.mark.parametrize("wrong", ["int64", "float32"])
def test_an_operator_behind_a_clash_does_not_repeat_it(wrong):
    (text,) = after("label: int32[N]", f"label: {wrong}[N]")
    assert text.startswith("error[N201] SoftmaxWithLoss:")


def test_two_operators_that_cannot_take_a_blob_are_both_named():
    net = parse('net "n"\ninput x: int32[N]\na = Relu(x)\nb = Sigmoid(x)\ny = Add(a, b)\noutput y\n')
    assert [(f.code, f.index) for f in check(net)] == [("N201", 0), ("N201", 1)]


@pytest.mark.parametrize("outputs", ["conv1_w_fp32", "a, b, c, conv1_w_fp32", "conv1_w_fp32, conv1_w_fp32"])
def test_an_update_with_other_outputs_is_used_wrongly(outputs):
    found = after("conv1_w_grad_fp32, conv1_w_momentum, conv1_w_fp32 =", f"{outputs} =")
    (wrong,) = (text for text in found if "N102" in text)
    assert wrong.startswith("error[N102] MomentumSGDUpdate takes 3 outputs, got")


@pytest.mark.parametrize("name", ["fc1_w_momentum", "fc1_w_fp32"])
def test_an_update_that_writes_another_name_loses_its_result(name):
    update = line_of("fc1_w_grad_fp32, fc1_w_momentum, fc1_w_fp32 =")
    (text,) = after(update, update.replace(name, f"{name}q", 1))
    first, *_, near = text.splitlines()
    assert first == f"warning[N305] the update writes '{name}q', which nothing reads, and leaves '{name}' as it is"
    assert near == f"  did you mean : {name}"


def test_a_blob_written_twice_by_one_operator_is_one_finding():
    found = after("softmax, loss = SoftmaxWithLoss", "loss, loss = SoftmaxWithLoss")
    assert [text.split(" ")[0] for text in found] == ["error[N102]", "error[N103]"]  # nothing makes softmax now


def test_a_parameter_that_nothing_reads_is_not_said_to_lack_an_update():
    found = after("FC(pool, fc1_w, fc1_b)", "FC(pool, fc1_w)")
    assert not any("N301" in text for text in found)


def test_an_operator_in_place_of_a_blob_that_nothing_makes():
    (finding,) = check(parse('net "n"\nx = Relu(x)\noutput x\n'))
    assert finding.message == "blob 'x' is read, but nothing provides it"


def test_an_init_net_that_is_none_is_the_only_finding():
    init, train = parse(INIT), parse(TRAIN)
    predict = parse('net "p"\ninput data, w, b\ny = FC(data, w, b)\noutput y\n')
    fills = parse('net "i"\nw = XavierFill() {shape = [2, 3]}\nb = ConstantFill() {shape = [2]}\n')
    for first, second, told in (
        (train, init, "net 'digits' runs first, but it reads 'conv1_w', which net 'digits_init' makes"),
        (train, train, "net 'digits' runs first, but it trains 'conv1_w_momentum'"),
        (predict, fills, "net 'p' runs first, but it reads 'w', which net 'i' makes"),
    ):
        assert [(f.code, f.message) for f in check(first, second)] == [("N107", told)]
    assert check(fills, predict) == []


def test_an_external_parameter_may_be_checked_first_and_trained_then():
    model, loss = small(None)
    w = model.parameter("outside", (3,), initializers.ExternalInitializer()).blob
    scaled = model.net.Mul([loss, model.net.AveragedLoss(w)], "scaled")
    model.add_gradients(scaled)
    optimizers.SGD().build(model)
    model.net.output(scaled)
    assert check(model.init_net.definition, model.net.definition) == []


# ---------------------------------------------------------------------- nested nets, JSON


BRANCHES = """\
net "n"
input c: bool[1]
input h: float32[2]
y = If(c, h)
  then_net = net "t"
    h2 = Sqr(h)
    y = Relu(h2)
    output y
  else_net = net "e"
    y = Exp(h)
    output y
output y
"""


def test_nested_nets_are_looked_into():
    net = parse('net "n"\ninput c: bool[1]\ninput x\ny = If(c, x)\n  then_net = net "t"\n    y = Rellu(x)\noutput y\n')
    unknown = check(net)
    assert [(f.code, f.net.name) for f in unknown] == [("N101", "t")]
    net = parse('net "n"\ninput c: bool[1]\ny = If(c)\n  then_net = net "t"\n    y = Relu(x)\noutput y\n')
    (missing,) = check(net)
    assert (missing.code, missing.net.name, missing.blob, missing.index) == ("N103", "t", "x", 0)


def test_what_a_nested_net_misses_is_told_at_its_line():
    text = BRANCHES.replace("y = Exp(h)", "y = Exp(hh)")
    (missing,) = check(parse(text, "n.net"))
    assert (missing.code, missing.blob, str(missing.where)) == ("N103", "hh", "n.net:10")
    assert missing.near == ("h",)


def test_what_a_nested_net_misses_is_told_once_in_a_training_step():
    net = nd.Net("n")
    c, x, v = net.input("c", (1,), "bool"), net.input("x", (2,)), net.input("v", (2,))
    nd.cond(net, c, lambda n: n.Mul([x, v], "y"), lambda n: n.Tanh(x, "y"))
    net.add_gradients("y")
    net.output("y")
    assert codes(parse(net.dump().replace("Mul(x, v)", "Mul(x, vv)"))) == ["N103"]


def test_there_is_one_fix():
    (finding,) = check(parse(TRAIN.replace("pool = MaxPool", "conv2_relu = Sigmoid(conv2_relu)\npool = MaxPool", 1)))
    assert [text for label, text in finding.rows(full=True) if label == "fix"] == [
        "let Sigmoid write a fresh blob instead of 'conv2_relu'"
    ]


def test_another_gradient_in_a_nested_net_is_told_in_one_line():
    net = nd.Net("n")
    c, x = net.input("c", (1,), "bool"), net.input("x", (2,))
    nd.cond(net, c, lambda n: n.LeakyRelu(x, "y", alpha=0.5), lambda n: n.Tanh(x, "y"))
    net.add_gradients("y")
    net.output("y")
    text = net.dump()
    assert check(parse(text)) == []
    (other,) = check(parse(text.replace("alpha = 0.5", "alpha = 0.25", 1)))
    assert other.code == "N304"
    assert other.message == (
        "this is not the gradient of `y = If(c, x)`: in then_net, "
        "`x_grad = LeakyReluGradient(y, y_autogen_grad)`: alpha 0.25 there, 0.5 here"
    )
    (other,) = check(parse(text.replace("y = Tanh(x)", "y = Relu(x)")))
    there, here = (f"`x_grad = {kind}Gradient(y, y_autogen_grad)`" for kind in ("Relu", "Tanh"))
    assert other.message == f"this is not the gradient of `y = If(c, x)`: in else_net, {there} there, {here} here"


def test_a_finding_as_data():
    (finding,) = check(parse('net "n"\ny = Relu(x)\noutput y\n', "a.net"))
    assert finding.to_dict() == {
        "code": "N103",
        "name": "missing-input",
        "severity": "error",
        "message": "blob 'x' is read, but nothing provides it",
        "net": "n",
        "operator": "y = Relu(x)",
        "index": 0,
        "blob": "x",
        "file": "a.net",
        "line": 2,
        "did_you_mean": [],
        "notes": [],
        "why": RULES["N103"].why,
        "fix": RULES["N103"].fix,
    }


def test_unknown_arguments_of_caffe2s_helpers_are_let_be():
    net = parse(
        'net "n"\ninput x\ny = Relu(x) {cudnn_exhaustive_search = 0, order = "NCHW", use_cudnn = 1}\noutput y\n'
    )
    assert check(net) == []


def test_checking_takes_time_in_proportion_to_the_net():
    """20,000 operators in a chain: quadratic work would take minutes."""
    ops = [nd.OperatorDef("Relu", [f"x{i}"], [f"x{i + 1}"]) for i in range(20_000)]
    net = NetDef("long", ops, ["x0"], [f"x{len(ops)}"])
    assert check(net) == []
    assert codes(attrs.evolve(net, inputs=[])) == ["N103"]


def test_a_long_training_step_is_checked_in_a_moment():
    """1,500 layers, 9,000 operators: quadratic work would take minutes."""
    model = nd.Model("m")
    x = model.input("x", ("N", 2))
    for index in range(1500):
        x = layers.fc(model, x, f"fc{index}", 2, 2)
    loss = model.net.AveragedLoss(x, "loss")
    model.add_gradients(loss)
    optimizers.SGD(momentum=0.9).build(model)
    model.net.output(loss)
    init, net = model.init_net.definition, model.net.definition
    assert check(init, net) == []
    (missing,) = check(attrs.evolve(init, ops=init.ops[:-1]), net)
    assert missing.code == "N105"
