"""DOT, SVG and HTML: well-formed, escaped, self-contained and the same every time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from netdsl import io, viz
from netdsl.cli.digits.model import build
from netdsl.ir import NetDef, OperatorDef, SourceLine, TensorType
from netdsl.viz.dot import quote
from netdsl.viz.html import picture_data
from netdsl.viz.layout import lay_out
from netdsl.viz.text import fit, fit_list, printable
from tests.viz.nets import MODEL_FILES, MODELS, NASTY, branches, chain, nasty, nested, residual
from tests.viz.pages import check_page

FORMS = [viz.to_dot, viz.to_svg, viz.to_html]
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[A-Za-z0-9_.]+|->|[{}\[\]=;,\s]')


def check_svg(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.encode("utf-8"))


def check_dot(text: str) -> None:
    text.encode("utf-8")
    assert TOKEN.sub("", text) == ""
    assert text.count("{") - sum(t.count("{") for t in strings(text)) == text.count("}") - sum(
        t.count("}") for t in strings(text)
    )


def strings(dot: str) -> list[str]:
    return re.findall(r'"(?:[^"\\\n]|\\.)*"', dot)


@pytest.mark.parametrize("path", MODEL_FILES, ids=lambda path: str(path.relative_to(MODELS)))
def test_every_real_net_draws_in_every_form(path: Path):
    net = io.load(path)
    check_dot(viz.to_dot(net))
    root = check_svg(viz.to_svg(net))
    check_page(viz.to_html(net))
    boxes = [item for item in root.iter() if item.get("class") == "bar"]
    assert len(boxes) == operators(net)


def operators(net: NetDef) -> int:
    return sum(1 + sum(operators(inner) for _, inner in op.nested) for op in net.ops)


@pytest.mark.parametrize(
    "net", [NetDef(), NetDef("one", [OperatorDef("Foo")]), branches(), nested()], ids=lambda n: n.name
)
def test_small_and_odd_nets_draw_in_every_form(net):
    check_dot(viz.to_dot(net))
    check_svg(viz.to_svg(net))
    check_page(viz.to_html(net))


def test_hostile_names_are_text_in_svg():
    root = check_svg(viz.to_svg(nasty()))
    titles = {title.text for title in root.iter("{http://www.w3.org/2000/svg}title")}
    assert {printable(str(op)) for op in nasty().ops} <= titles
    tags = {item.tag.removeprefix("{http://www.w3.org/2000/svg}") for item in root.iter()}
    assert tags <= {"svg", "title", "style", "g", "rect", "path", "text", "tspan"}


def test_hostile_names_are_text_in_html():
    page = check_page(viz.training_page(NASTY[5], {NASTY[0]: nasty()}, {NASTY[5]: [1.0, 2.0]}, {NASTY[2]: NASTY[5]}))
    assert not {"b", "iframe", "img"} & {*page.tags}
    assert NASTY[5] in page.texts
    (curves, net) = map(json.loads, page.data)
    assert curves["series"][0]["name"] == NASTY[5]
    assert [node["op"] for node in net["nodes"] if "op" in node] == [printable(name) for name in NASTY]
    assert net["nodes"][-1]["args"] == {printable(NASTY[-1]): printable(NASTY[0])}


def test_hostile_names_are_text_in_dot():
    text = viz.to_dot(nasty())
    check_dot(text)
    assert all(any(quote(name)[1:-1] in label for label in strings(text)) for name in NASTY)


@pytest.mark.parametrize("name", NASTY)
def test_a_quoted_name_reads_back(name):
    assert re.sub(r"\\(.)", r"\1", quote(name)[1:-1]) == printable(name)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_net_gives_the_same_bytes(form, fresh_python):
    assert form(residual(2).net.definition) == form(residual(2).net.definition)
    code = f"""
from netdsl import viz, parse
import hashlib
net = parse({str(residual(2).net.definition)!r})
print(hashlib.sha256(viz.{form.__name__}(net).encode()).hexdigest())
"""
    assert fresh_python(code) == fresh_python(code)


def test_the_picture_in_the_readme_is_fresh():
    picture = Path(__file__).parents[2] / "docs" / "images" / "digits.svg"
    net = build("half").net.definition
    again = "write netdsl.viz.to_svg(netdsl.cli.digits.model.build('half').net.definition) to docs/images/digits.svg"
    assert picture.read_text("utf-8") == viz.to_svg(net), again


@pytest.mark.parametrize("text", [form(residual(2).net.definition) for form in FORMS])
def test_nothing_is_fetched(text):
    assert re.findall(r"https?:[^\"'\s<]*", text.replace("http://www.w3.org/2000/svg", "")) == []
    assert not re.search(r"\b(src|href)=|@import|url\(|fetch\(|XMLHttpRequest|WebSocket", text)


@pytest.mark.parametrize("form", FORMS)
def test_size_grows_linearly(form):
    small, large = (len(form(chain(length))) for length in (1000, 2000))
    fixed = len(form(chain(1)))
    assert large - fixed < 2.2 * (small - fixed)


def test_a_chain_of_4000_is_a_small_dot_text():
    assert len(viz.to_dot(chain(4000))) < 5_000_000


def test_drawing_needs_no_array_library(fresh_python):
    code = """
from netdsl import viz, parse
net = parse('net "n"\\ninput x: float32[2]\\ny = Relu(x)\\n')
print(len(viz.to_dot(net)) > 0, len(viz.to_svg(net)) > 0, len(viz.to_html(net)) > 0)
"""
    assert fresh_python(code, without=["numpy", "networkx"]) == "True True True"


def test_given_types_reach_the_picture():
    net = NetDef("n", [OperatorDef("Relu", ["x"], ["y"])], inputs=["x"])
    types = {"x": TensorType(shape=(2, 3))}
    for form in FORMS:
        assert "2\u00d73" not in form(net)
        assert "2\u00d73" in form(net, types=types).replace("\\u00d7", "\u00d7")


def test_clashing_types_draw_without_them():
    net = NetDef("n", [OperatorDef("Add", ["x", "y"], ["z"])])
    types = {"x": TensorType(shape=(2, 3)), "y": TensorType(shape=(4, 5))}
    assert "Add" in viz.to_svg(net, types=types)


def test_details_tell_arguments_types_and_origin():
    model = build("half")
    data = picture_data(lay_out(model.net.definition))
    (node,) = [node for node in data["nodes"] if ["conv1", "float16[N, 16, 8, 8]"] in node["outputs"]]
    assert node["args"] == {"kernel": "3", "pad": "1"}
    assert node["held"] == [["conv1_w", "float16[16, 1, 3, 3]"], ["conv1_b", "float16[16]"]]
    assert re.search(r"model\.py:\d+$", node["where"])


def test_places_are_told_from_the_current_folder_or_by_their_last_parts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    places = [str(tmp_path / "nets" / "a.net"), "/usr/share/nets/b.net", "c.net"]
    ops = [OperatorDef("Relu", ["x"], [f"y{i}"], where=SourceLine(p, 3)) for i, p in enumerate(places)]
    nodes = picture_data(lay_out(NetDef("n", ops, inputs=["x"])))["nodes"]
    assert [node["where"] for node in nodes if "op" in node] == ["nets/a.net:3", "nets/b.net:3", "c.net:3"]


def test_numbers_of_enumerations_stand_by_their_names():
    net = NetDef("n", [OperatorDef("ConstantFill", [], ["y"], {"shape": (1,), "dtype": 10})])
    (node,) = picture_data(lay_out(net))["nodes"]
    assert node["note"] == "dtype int64"
    assert node["args"]["dtype"] == "10 (int64)"


def test_a_large_net_starts_with_its_scopes_closed():
    small, large = (picture_data(lay_out(residual(blocks).net.definition)) for blocks in (5, 90))
    assert not any(band["closed"] for band in small["bands"])
    assert all(band["closed"] for band in large["bands"])
    assert large["bands"][7]["counts"] == {"forward": 4, "gradient": 5, "update": 4}


@pytest.mark.parametrize(("inner", "closed"), [(2, False), (40, True)])
def test_a_large_nested_net_starts_closed(inner, closed):
    (band,) = picture_data(lay_out(nested(inner)))["bands"]
    assert band["closed"] is closed


def test_an_unknown_operator_is_marked():
    data = picture_data(lay_out(NetDef("n", [OperatorDef("NoSuchThing", ["x"], ["y"])])))
    assert [node.get("known") for node in data["nodes"] if "op" in node] == [False]
    assert 'class="forward unknown"' in viz.to_svg(NetDef("n", [OperatorDef("NoSuchThing", [], ["y"])]))


def test_the_page_of_a_net_has_its_parameters():
    page = check_page(viz.to_html(residual(1).net.definition, title="A title"))
    assert {"A title", "Parameters", "block0/fc1_w", "MomentumSGDUpdate"} - {*page.texts} == {"MomentumSGDUpdate"}
    assert page.tags.count("tr") == 5


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        ("short", 5, "short"),
        ("conv1_branch_w", 9, "conv\u2026ch_w"),
        ("abc", 0, ""),
        ("abcdef", 3, "ab\u2026"),
        ("a\nb", 3, "a\u240ab"),
    ],
)
def test_a_long_name_loses_its_middle(text, room, shown):
    assert fit(text, room) == shown


@pytest.mark.parametrize(
    ("texts", "room", "shown"),
    [
        ([], 5, ""),
        (["a", "b"], 5, "a, b"),
        (["abc", "def", "g"], 8, "abc +2"),
        (["abcdefghij", "k"], 8, "ab\u2026ij +1"),
    ],
)
def test_a_long_list_says_how_much_is_left_out(texts, room, shown):
    assert fit_list(texts, room) == shown
