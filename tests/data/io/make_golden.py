"""Make golden.pb and float16_blob.pb anew; run by hand where Caffe2 itself is installed (PyTorch 1.8)."""

from pathlib import Path

import numpy as np
from caffe2.proto import caffe2_pb2
from caffe2.python import core, workspace

HERE = Path(__file__).parent

then, otherwise = core.Net("then"), core.Net("else")
then.Scale("x", "y", scale=2.0)
otherwise.Copy("x", "y")

net = core.Net("golden")
proto = net.Proto()
proto.type, proto.num_workers = "dag", 3
net.AddExternalInput("x", "w", "x/with:odd name")
proto.external_input.append("x")
with core.DeviceScope(core.DeviceOption(caffe2_pb2.CUDA, 1, random_seed=7, extra_info=["left"])):
    net.FC(["x", "w", "b"], "y", axis=1, flag=True, engine="CUDNN", name="first")
net.Conv(["x", "w"], "c", kernels=[3, 3], order="NCHW", device_option=core.DeviceOption(caffe2_pb2.CPU))
net.GivenTensorFill([], "g", shape=[2, 30], values=(np.arange(60) / 7).astype(np.float32))
net.ConstantFill([], "k", shape=[1], value=0.1, dtype=caffe2_pb2.TensorProto.FLOAT16)
net.If(["cond", "x"], ["y"], then_net=then.Proto(), else_net=otherwise.Proto())
kinds = {"empty": [], "texts": ["a", "b"], "raw": b"\xff\x00", "big": -(2**63), "minus_zero": -0.0, "inf": np.inf}
proto.op.extend([core.CreateOperator("Nothing", ["x"], [], **kinds)])
op = proto.op.add(type="Relu", input=["y"], output=["y"], control_input=["c"])
op.is_gradient_op, op.debug_info, op.domain, op.op_version = True, "why", "here", 2
tensor = op.arg.add(name="value").t
tensor.data_type = caffe2_pb2.TensorProto.FLOAT16
tensor.dims.append(1)
tensor.int32_data.append(15360)
proto.partition_info.add(name="part", device_id=[0, 2])
proto.arg.add(name="hint", i=4)
proto.external_output.append("y")
(HERE / "golden.pb").write_bytes(proto.SerializeToString())

workspace.FeedBlob("t", np.array([1, 2, -1.5], np.float16))
(HERE / "float16_blob.pb").write_bytes(workspace.SerializeBlob("t"))
