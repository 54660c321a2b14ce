"""Caffe2's protobuf messages, described here and built in a descriptor pool of our own.

The pool is private, so that Caffe2's own ``caffe2_pb2`` may be imported in the same process. Every class is an
attribute of this module under its message name (``messages.NetDef()``); enums are on the classes, as protobuf
puts them there (``messages.TensorProto.FLOAT16``).
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "caffe2"

# Every device type that Caffe2 numbers, at its number.
DEVICE_KINDS = ("cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "msnpu", "xla")

_ENUMS = {
    "DeviceTypeProto": [
        *((f"PROTO_{kind.upper()}", number) for number, kind in enumerate(DEVICE_KINDS)),
        ("PROTO_COMPILE_TIME_MAX_DEVICE_TYPES", len(DEVICE_KINDS)),
    ],
    "ExternalDataProto.SourceType": [("INLINE_CONTAINER", 0), ("SIMPLE_FILE", 1)],
    "TensorProto.DataType": [
        ("UNDEFINED", 0),
        ("FLOAT", 1),
        ("INT32", 2),
        ("BYTE", 3),
        ("STRING", 4),
        ("BOOL", 5),
        ("UINT8", 6),
        ("INT8", 7),
        ("UINT16", 8),
        ("INT16", 9),
        ("INT64", 10),
        ("FLOAT16", 12),
        ("DOUBLE", 13),
        ("ZERO_COLLISION_HASH", 14),
    ],
    "TensorProto.StorageType": [("TYPED", 1), ("RAW", 2), ("EXTERNAL", 3), ("NO_CONTENT", 4)],
    "TensorBoundShape.DimType": [
        ("UNKNOWN", 0),
        ("CONSTANT", 1),
        ("BATCH", 2),
        ("BATCH_OF_FEATURE_MAX", 3),
        ("BATCH_OF_FEATURE_MAX_DEFAULT", 4),
        ("FEATURE_MAX", 5),
        ("FEATURE_MAX_DEFAULT", 6),
    ],
}

# A field a line: number, name, type; then * for repeated, *packed, ! for required, or =default.
_MESSAGES = {
    "ExternalDataProto": """
        1 source_type ExternalDataProto.SourceType =INLINE_CONTAINER
        2 record_id string
        5 record_size uint64
        3 offset int64 =0
        4 strides int64 *""",
    "TensorProto": """
        1 dims int64 *
        2 data_type TensorProto.DataType =FLOAT
        12 storage_type TensorProto.StorageType =TYPED
        3 float_data float *packed
        4 int32_data int32 *packed
        5 byte_data bytes
        6 string_data bytes *
        9 double_data double *packed
        10 int64_data int64 *packed
        13 raw_data bytes
        14 external_data ExternalDataProto
        7 name string
        8 device_detail DeviceOption
        11 segment TensorProto.Segment""",
    "TensorProto.Segment": """
        1 begin int64 !
        2 end int64 !""",
    "QTensorProto": """
        1 dims int64 *
        2 precision int32 !
        3 scale double !
        4 bias double !
        5 is_signed bool !
        6 data int32 *packed
        7 name string
        8 data_type TensorProto.DataType =INT32
        9 scales double *
        10 biases double *
        11 axis int32
        12 is_multiparam bool =false""",
    "TensorProtos": "1 protos TensorProto *",
    "TensorShape": """
        1 dims int64 *
        2 data_type TensorProto.DataType =FLOAT
        3 unknown_dims int32 *
        4 unknown_shape bool =false
        5 name string""",
    "TensorShapes": "1 shapes TensorShape *",
    "TensorBoundShape": """
        1 shape TensorShape
        2 dim_type TensorBoundShape.DimType *
        3 name string
        4 shape_is_final bool""",
    "TensorBoundShapes": """
        1 shapes TensorBoundShape *
        2 max_batch_size int64
        3 max_feature_len int64""",
    "AOTConfig": """
        1 max_batch_size int64 !
        2 max_seq_size int64 !
        3 in_batch_broadcast bool !""",
    "Argument": """
        1 name string
        2 f float
        3 i int64
        4 s bytes
        10 t TensorProto
        8 n NetDef
        5 floats float *
        6 ints int64 *
        7 strings bytes *
        11 tensors TensorProto *
        9 nets NetDef *
        12 qtensors QTensorProto *""",
    "DeviceOption": """
        1 device_type int32 =0
        2 device_id int32
        3 random_seed uint32
        4 node_name string
        5 numa_node_id int32
        6 extra_info string *""",
    "OperatorDef": """
        1 input string *
        2 output string *
        3 name string
        4 type string
        5 arg Argument *
        6 device_option DeviceOption
        7 engine string
        8 control_input string *
        9 is_gradient_op bool =false
        10 debug_info string
        11 domain string
        12 op_version int64""",
    "MapFieldEntry": """
        1 key string !
        2 val string !""",
    "BackendOptions": """
        1 backend_name string !
        2 option MapFieldEntry *""",
    "PartitionInfo": """
        1 name string !
        2 device_id int32 *
        3 extra_info string
        4 backend_options BackendOptions *""",
    "NetDef": """
        1 name string
        2 op OperatorDef *
        3 type string
        4 num_workers int32
        5 device_option DeviceOption
        6 arg Argument *
        7 external_input string *
        8 external_output string *
        9 partition_info PartitionInfo *""",
    "ExecutionStep": """
        1 name string
        2 substep ExecutionStep *
        3 network string *
        4 num_iter int64
        5 criteria_network string
        7 report_net string
        8 report_interval int32
        11 run_every_ms int64
        6 concurrent_substeps bool
        9 should_stop_blob string
        10 only_once bool
        12 create_workspace bool
        13 num_concurrent_instances int32""",
    "PlanDef": """
        1 name string
        2 network NetDef *
        3 execution_step ExecutionStep *""",
    "BlobProto": """
        1 name string
        2 type string
        3 tensor TensorProto
        4 content bytes
        5 qtensor QTensorProto
        6 content_num_chunks int32
        7 content_chunk_id int32""",
    "DBReaderProto": """
        1 name string
        2 source string
        3 db_type string
        4 key string""",
    "ModelInfo": """
        1 project string
        2 modelClass string
        3 version string
        4 predictorType string =SINGLE_PREDICTOR
        5 modelId string""",
    "BlobsMap": """
        1 key string !
        2 value string *""",
    "NetsMap": """
        1 key string !
        2 value NetDef !""",
    "PlansMap": """
        1 key string !
        2 value PlanDef !""",
    "StringMap": """
        1 key string !
        2 value string !""",
    "MetaNetDef": """
        1 blobs BlobsMap *
        2 nets NetsMap *
        3 modelInfo ModelInfo
        4 plans PlansMap *
        5 applicationSpecificInfo StringMap *
        6 blobsOrder string *
        7 preLoadBlobs string *
        8 tensorBoundShapes TensorBoundShapes
        9 requestOnlyEmbeddings string *
        10 aotConfig AOTConfig""",
}

_Field = descriptor_pb2.FieldDescriptorProto


def _describe_field(line: str, field: Any) -> None:
    number, field.name, kind, *rest = line.split()
    field.number = int(number)
    rule = rest[0] if rest else ""
    field.label = {"*": _Field.LABEL_REPEATED, "!": _Field.LABEL_REQUIRED}.get(rule[:1], _Field.LABEL_OPTIONAL)
    if rule == "*packed":
        field.options.packed = True
    if rule.startswith("="):
        field.default_value = rule[1:]
    if kind in _MESSAGES or kind in _ENUMS:
        field.type = _Field.TYPE_MESSAGE if kind in _MESSAGES else _Field.TYPE_ENUM
        field.type_name = f".{PACKAGE}.{kind}"
    else:
        field.type = getattr(_Field, f"TYPE_{kind.upper()}")


def _describe_file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="netdsl/caffe2.proto", package=PACKAGE, syntax="proto2")
    described: dict[str, Any] = {}
    for path, lines in _MESSAGES.items():
        outer, _, name = path.rpartition(".")
        described[path] = (described[outer].nested_type if outer else file.message_type).add(name=name)
        for line in lines.strip().splitlines():
            _describe_field(line, described[path].field.add())
    for path, values in _ENUMS.items():
        outer, _, name = path.rpartition(".")
        enum = (described[outer].enum_type if outer else file.enum_type).add(name=name)
        for value, number in values:
            enum.value.add(name=value, number=number)
    return file


pool = descriptor_pool.DescriptorPool()
"""Holds the messages of this module and nothing else."""

pool.AddSerializedFile(_describe_file().SerializeToString())


def message_class(name: str) -> Any:
    """Return the class of the Caffe2 message called ``name`` (``"NetDef"``, ``"TensorProto.Segment"``)."""
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


# Protobuf makes these classes at run time; Any is all that a type checker can know of them.
ExternalDataProto: Any = message_class("ExternalDataProto")
TensorProto: Any = message_class("TensorProto")
QTensorProto: Any = message_class("QTensorProto")
TensorProtos: Any = message_class("TensorProtos")
TensorShape: Any = message_class("TensorShape")
TensorShapes: Any = message_class("TensorShapes")
TensorBoundShape: Any = message_class("TensorBoundShape")
TensorBoundShapes: Any = message_class("TensorBoundShapes")
AOTConfig: Any = message_class("AOTConfig")
Argument: Any = message_class("Argument")
DeviceOption: Any = message_class("DeviceOption")
OperatorDef: Any = message_class("OperatorDef")
MapFieldEntry: Any = message_class("MapFieldEntry")
BackendOptions: Any = message_class("BackendOptions")
PartitionInfo: Any = message_class("PartitionInfo")
NetDef: Any = message_class("NetDef")
ExecutionStep: Any = message_class("ExecutionStep")
PlanDef: Any = message_class("PlanDef")
BlobProto: Any = message_class("BlobProto")
DBReaderProto: Any = message_class("DBReaderProto")
ModelInfo: Any = message_class("ModelInfo")
BlobsMap: Any = message_class("BlobsMap")
NetsMap: Any = message_class("NetsMap")
PlansMap: Any = message_class("PlansMap")
StringMap: Any = message_class("StringMap")
MetaNetDef: Any = message_class("MetaNetDef")
