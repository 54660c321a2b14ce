"""Nets in files: every format, told apart by content, whole or not at all."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path

import pytest

from netdsl.errors import FileFormatError, NetError, ParseError, UnknownArgumentWarning
from netdsl.io import load, messages, save
from netdsl.io.files import decode, encode
from netdsl.io.sniff import FORMATS
from netdsl.ir import Device, NetDef, OperatorDef, TensorType, dump

DATA = Path(__file__).parents[1] / "data"
MODELS = sorted(p for p in (DATA / "models").rglob("*") if p.suffix in (".pb", ".pbtxt"))
SQUEEZENET = (DATA / "models/squeezenet_onnx/predict_net.pb").read_bytes()
FC_INIT = (DATA / "models/glow/fc_init_net.pbtxt").read_bytes()
SMALL = NetDef("small", [OperatorDef("Relu", ["x"], ["y"])], ["x"], ["y"])


def test_models_are_there():
    assert len(MODELS) == 43


@pytest.mark.parametrize("path", MODELS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_real_file_saves_back_equal_in_every_format(path: Path, tmp_path: Path):
    net = load(path)
    assert net.ops
    for format in FORMATS:
        save(net, tmp_path / f"net.{format}")
        assert load(tmp_path / f"net.{format}") == net


def test_golden_file_of_caffe2_reads_as_expected():
    with pytest.warns(UnknownArgumentWarning) as warned:
        net = load(DATA / "io/golden.pb")
    assert any("FC has no argument 'flag'" in str(warning.message) for warning in warned)
    assert dump(net) == (DATA / "io/golden.net").read_text()


@pytest.mark.parametrize("format", FORMATS)
def test_content_decides_not_the_name(format: str, tmp_path: Path):
    for extension in ("pb", "net", "bin"):
        save(SMALL, tmp_path / f"a.{extension}", format=format)
        assert load(tmp_path / f"a.{extension}") == SMALL


@pytest.mark.parametrize(
    ("extension", "format"),
    [(".pb", "pb"), (".pbtxt", "pbtxt"), (".prototxt", "pbtxt"), (".net", "net"), (".txt", "net"), (".JSON", "json")],
)
def test_extension_decides_how_to_save(extension: str, format: str, tmp_path: Path):
    path = tmp_path / f"a{extension}"
    save(SMALL, path)
    assert path.read_bytes() == encode(SMALL, format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("net", [NetDef(), NetDef("nine char"), NetDef("net"), NetDef(inputs=["x"])], ids=repr)
def test_bare_nets_survive(net: NetDef, format: str):
    assert decode(encode(net, format)) == net


def test_a_net_being_built_is_saved_by_its_definition(tmp_path: Path):
    class Building:
        definition = SMALL

    save(Building(), tmp_path / "a.pb")
    assert load(str(tmp_path / "a.pb")) == SMALL


def test_text_may_have_comments_a_byte_order_mark_and_foreign_line_ends():
    assert decode(b"\xef\xbb\xbf# mine\r\n\r\n" + encode(SMALL, "net").replace(b"\n", b"\r\n")) == SMALL
    assert decode(b"\xef\xbb\xbf# mine\r\n\r\n" + encode(SMALL, "pbtxt").replace(b"\n", b"\r\n")) == SMALL


def archive(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            file.writestr(name, b"content")
    return buffer.getvalue()


TENSORS = messages.TensorProtos(protos=[messages.TensorProto(name="a", dims=[1], float_data=[1.0])] * 2)
BAD = {
    "empty": (b"", "is empty"),
    "blank": (b" \n", "is empty"),
    "png": (b"\x89PNG\r\n\x1a\n....", "a PNG image"),
    "pickle": (pickle.dumps({"a": [1]}), "a Python pickle"),
    "old pytorch": (pickle.dumps({"a": 1}, protocol=2), "PyTorch"),
    "pytorch": (archive("model/data.pkl", "model/data/0"), "a PyTorch file"),
    "npz": (archive("a.npy"), "load_tensors reads them"),
    "zip": (archive("a.txt"), "a zip archive"),
    "cut zip": (archive("a.txt")[:40], "a damaged zip archive"),
    "onnx": (b"\x08\x06\x12\x07pytorch:\x02\x10\x09", "perhaps an ONNX model"),
    "utf-16": ('net "x"'.encode("utf-16"), "UTF-16"),
    "latin-1": (b'name: "caf\xe9"', "no Caffe2 net"),
    "zeros": (bytes(50), "nonsense at byte 0 of 50"),
    "html": (b"<html><body>Not found</body></html>", "text that begins '<html>"),
    "prose": (b"hello, world", "text that begins 'hello, world'"),
    "tensors": (TENSORS.SerializeToString(), "a TensorProtos message"),
    "tensors as text": (b'protos { name: "a" }', "TensorProtos"),
    "caffe 1": (b"layer { name: 'a' }", "a Caffe (not Caffe2) net"),
    "caffe 1 named": (b'name: "a"\nlayer { name: "b" }', 'no field named "layer"'),
    "blob": ((DATA / "io/float16_blob.pb").read_bytes(), "a BlobProto message"),
    "meta net": (
        messages.MetaNetDef(nets=[messages.NetsMap(key="p", value=messages.NetDef(name="n"))]).SerializeToString(),
        "a MetaNetDef message",
    ),
    "predictor": (b"\x0f\x00\x00\x00\x05\x00\x00\x00!!META_NET_DEF...", "predictor database"),
    "operator without type": (b"\x0a\x01n\x12\x03\x0a\x01x", "operator 0, which has no type"),
    "unknown field": (encode(SMALL, "pb") + b"\xa2\x06\x01x", "4 bytes in fields that no Caffe2 net has"),
    "cut binary": (SQUEEZENET[:2000], "the end of the file: operator 36, at byte 1981, reaches to byte 2029 of 2000"),
    "one byte short": (SQUEEZENET[:-1], "at byte 5245, reaches to byte 5250 of 5249"),
    "damaged binary": (SQUEEZENET[:300] + b"\xff" * 8 + SQUEEZENET[308:], "operator 4 does not decode"),
    "name in latin-1": (b"\x0a\x01\xe9\x12\x03\x22\x01a", "a name that is not UTF-8"),
    "type in latin-1": (b"\x0a\x01n\x12\x03\x22\x01\xe9", "a name that is not UTF-8"),
    "cut text": (FC_INIT[:200], "may be truncated"),
    "slip in text": (b'op { type: "Relu" input: }', "line 1, column 26"),
    "argument twice": (b'op { type: "A" arg { name: "a" i: 1 } arg { name: "a" i: 2 } }', "twice"),
    "cut json": (encode(SMALL, "json")[:30], "line 1:"),
    "other json": (b'{"a": 1}', "netdsl, net"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_net_is_refused(case: str, tmp_path: Path):
    content, expected = BAD[case]
    path = tmp_path / "bad.pb"
    path.write_bytes(content)
    with pytest.raises(FileFormatError) as caught:
        load(path)
    assert expected in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("end", range(1, len(encode(SMALL, "pb")) - 1))
def test_a_cut_binary_file_never_reads_as_another_whole_net(end: int):
    cut = encode(SMALL, "pb")[:end]
    fields = [b"\n\x05small", b'\x12\x0c\n\x01x\x12\x01y"\x04Relu', b":\x01x", b"B\x01y"]
    boundaries = [len(b"".join(fields[:n])) for n in range(1, len(fields))]
    if end in boundaries:  # a net with less in it: nothing in the encoding tells
        assert len(decode(cut).ops) <= 1
    else:
        with pytest.raises(FileFormatError):
            decode(cut)


def test_an_error_is_shown_whole(tmp_path: Path):
    with pytest.raises(FileFormatError) as caught:
        decode(SQUEEZENET[:2000], "squeezenet.pb")
    assert str(caught.value).splitlines() == [
        "'squeezenet.pb' is no Caffe2 net, or damaged",
        "  expected : a complete NetDef message",
        "  got      : the end of the file: operator 36, at byte 1981, reaches to byte 2029 of 2000",
    ]


def test_a_slip_in_our_text_names_file_line_and_column(tmp_path: Path):
    path = tmp_path / "a.net"
    path.write_text('net "a"\ny = Relu(x\n')
    with pytest.raises(ParseError) as caught:
        load(path)
    assert caught.value.line == 2
    assert f"{path}:2:" in str(caught.value)


def test_a_folder_and_a_missing_file(tmp_path: Path):
    with pytest.raises(FileFormatError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.pb")


def test_unknown_formats_name_the_known_ones(tmp_path: Path):
    with pytest.raises(FileFormatError, match=r"(?s)'\.pbtx'.*did you mean : \.pbtxt"):
        save(SMALL, tmp_path / "a.pbtx")
    with pytest.raises(FileFormatError, match=r"(?s)'jsn'.*did you mean : json"):
        save(SMALL, tmp_path / "a.pb", format="jsn")
    assert os.listdir(tmp_path) == []


def test_a_net_that_cannot_be_written_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "a.pb"
    save(SMALL, path)
    with pytest.raises(NetError, match=r"(?s)cudda.*did you mean : cuda"):
        save(NetDef("x", [OperatorDef("A", device=Device("cudda"))]), path)
    assert load(path) == SMALL
    assert os.listdir(tmp_path) == ["a.pb"]


def test_a_write_that_fails_halfway_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.pb"
    save(SMALL, path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        save(NetDef("other"), path)
    assert load(path) == SMALL
    assert os.listdir(tmp_path) == ["a.pb"]


def test_saving_follows_links_and_keeps_permissions(tmp_path: Path):
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real/a.pb", tmp_path / "a.pb"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    save(SMALL, link)
    assert link.is_symlink()
    assert load(real) == SMALL
    assert real.stat().st_mode & 0o777 == 0o640


def test_saving_into_nowhere_says_which_folder(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"no such folder: .*none'"):
        save(SMALL, tmp_path / "none/a.pb")
    (tmp_path / "folder.pb").mkdir()
    with pytest.raises(IsADirectoryError):
        save(SMALL, tmp_path / "folder.pb")


def test_nets_load_and_save_without_numpy(fresh_python, tmp_path: Path):
    path = tmp_path / "a.pb"
    save(NetDef("n", types={"x": TensorType()}), path)
    code = f"import netdsl.io as io; net = io.load({str(path)!r}); io.save(net, {str(path)!r}); print(net.name)"
    assert fresh_python(code, without=["numpy"]) == "n"


def test_text_loads_without_protobuf(fresh_python, tmp_path: Path):
    path = tmp_path / "a.net"
    save(SMALL, path)
    assert fresh_python(f"import netdsl.io as io; print(io.load({str(path)!r}).name)", without=["google"]) == "small"
