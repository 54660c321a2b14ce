"""What PyTorch computes; ``tests/data/torch/README.md`` tells how it was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

TORCH: dict[str, np.ndarray] = dict(np.load(Path(__file__).parents[2] / "data" / "torch" / "optim.npz"))

ADAMW: dict[str, tuple[float, dict[str, Any]]] = {
    "plain": (1e-2, {}),
    "decayed": (1e-1, {"weight_decay": 0.05}),
    "other": (3e-2, {"weight_decay": 0.01, "beta1": 0.5, "beta2": 0.75, "epsilon": 0.25}),
}
"""The learning rate and the other settings of each run of AdamW."""
