"""The description of Caffe2's messages."""

from __future__ import annotations

from netdsl.io import messages


def test_every_message_has_its_class():
    for name, descriptor in messages.pool.FindFileByName("netdsl/caffe2.proto").message_types_by_name.items():
        assert getattr(messages, name).DESCRIPTOR is descriptor


def test_defaults_and_labels():
    assert messages.TensorProto().data_type == messages.TensorProto.FLOAT == 1
    assert messages.TensorProto().storage_type == messages.TensorProto.TYPED
    assert messages.QTensorProto().data_type == messages.TensorProto.INT32
    assert messages.ModelInfo().predictorType == "SINGLE_PREDICTOR"
    assert not messages.NetsMap(key="a").IsInitialized()


def test_wire_format():
    assert messages.NetDef(name="a", external_input=["x"]).SerializeToString() == b"\n\x01a:\x01x"
    packed = messages.TensorProto(float_data=[1.0], dims=[2, 3]).SerializeToString()
    assert packed == b"\x08\x02\x08\x03\x1a\x04\x00\x00\x80?"
    floats = messages.Argument(floats=[1.0, 1.0]).SerializeToString()
    assert floats == b"-\x00\x00\x80?-\x00\x00\x80?"


def test_lives_beside_another_description_of_the_same_messages(fresh_python):
    code = """
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
other = descriptor_pb2.FileDescriptorProto(name="caffe2/proto/caffe2.proto", package="caffe2", syntax="proto2")
other.message_type.add(name="NetDef").field.add(name="title", number=1, type=9, label=1)
descriptor_pool.Default().AddSerializedFile(other.SerializeToString())
from netdsl.io import messages
theirs = message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName("caffe2.NetDef"))
print(theirs(title="a").title, messages.NetDef(name="b").name)
"""
    assert fresh_python(code) == "a b"
