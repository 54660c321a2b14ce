"""Which module declares each operator; generated, do not edit."""

MODULES: dict[str, str] = {
    "Concat": "shape.concat",
    "Dropout": "nn.dropout",
    "DropoutGradient": "nn.dropout",
    "FC": "nn.fc",
    "FCGradient": "nn.fc",
    "FP16MomentumSGDUpdate": "optim.momentum",
    "FP32MomentumSGDUpdate": "optim.momentum",
    "If": "control.cond",
    "MomentumSGD": "optim.momentum",
    "MomentumSGDUpdate": "optim.momentum",
    "Relu": "nn.activation",
    "ReluGradient": "nn.activation",
    "Split": "shape.concat",
}
