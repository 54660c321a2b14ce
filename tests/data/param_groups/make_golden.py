"""Trains the transformer of examples/param_groups.py with PyTorch and writes torch_golden.npz."""

import math

import numpy as np
import torch
import torch.nn.functional as F

V, T, D, H, N, HID = 11, 5, 8, 2, 4, 16
SHAPES = {
    "tokens_w": (V, D),
    "absolute_pos_embed": (T, D),
    "block1/norm1_scale": (D,),
    "block1/norm1_bias": (D,),
    "block1/attn_q_w": (D, D),
    "block1/attn_q_b": (D,),
    "block1/attn_k_w": (D, D),
    "block1/attn_k_b": (D,),
    "block1/attn_v_w": (D, D),
    "block1/attn_v_b": (D,),
    "block1/attn_relative_position_bias_table": (2 * T - 1, H),
    "block1/attn_w": (D, D),
    "block1/attn_b": (D,),
    "block1/norm2_scale": (D,),
    "block1/norm2_bias": (D,),
    "block1/fc1_w": (HID, D),
    "block1/fc1_b": (HID,),
    "block1/fc2_w": (D, HID),
    "block1/fc2_b": (D,),
    "norm_scale": (D,),
    "norm_bias": (D,),
    "head_b": (V,),
    "tower/fc_w": (D, 6),
    "tower/fc_b": (D,),
}


def initial():
    r = np.random.RandomState(7)
    out = {}
    for k, s in SHAPES.items():
        a = r.randn(*s) * (0.3 if len(s) > 1 else 0.1)
        if k.endswith("_scale"):
            a = 1 + a
        out[k] = a.astype(np.float32)
    return out


def batch(step):
    r = np.random.RandomState(100 + step)
    return (
        r.randint(0, V, (N, T)).astype(np.int32),
        r.randn(N, 6).astype(np.float32),
        r.randint(0, V, (N * T,)).astype(np.int32),
    )


def forward(p, ids, extra, label):
    x = p["tokens_w"][ids.long()] + p["absolute_pos_embed"]
    tower = F.linear(extra, p["tower/fc_w"], p["tower/fc_b"])
    x = x + tower[:, None, :]
    h = F.layer_norm(x, (D,), p["block1/norm1_scale"], p["block1/norm1_bias"], 1e-5)
    d = D // H
    q, k, v = (
        F.linear(h, p[f"block1/attn_{c}_w"], p[f"block1/attn_{c}_b"]).view(N, T, H, d).permute(0, 2, 1, 3)
        for c in "qkv"
    )
    s = q @ k.transpose(-1, -2) / math.sqrt(d)
    idx = torch.tensor([i - j + T - 1 for i in range(T) for j in range(T)])
    s = s + p["block1/attn_relative_position_bias_table"][idx].view(T, T, H).permute(2, 0, 1)
    a = (s.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(N, T, D)
    x = x + F.linear(a, p["block1/attn_w"], p["block1/attn_b"])
    h = F.layer_norm(x, (D,), p["block1/norm2_scale"], p["block1/norm2_bias"], 1e-5)
    h = F.linear(F.gelu(F.linear(h, p["block1/fc1_w"], p["block1/fc1_b"])), p["block1/fc2_w"], p["block1/fc2_b"])
    x = x + h
    x = F.layer_norm(x, (D,), p["norm_scale"], p["norm_bias"], 1e-5)
    return F.cross_entropy(F.linear(x.reshape(N * T, D), p["tokens_w"], p["head_b"]), label.long())


def settings(name):
    lr = 0.1 if name.startswith("block1/") else 1.0
    wd = 0.05
    if name == "absolute_pos_embed" or name.endswith("relative_position_bias_table"):
        wd = 0.0
    if "norm" in name:
        wd = 0.0
    if name == "tokens_w":
        wd = 0.01
    if name.endswith(("_b", "_bias")):
        wd = 0.0
    return lr, wd


def run(kind, clip=None):
    p = {k: torch.tensor(v, requires_grad=not k.startswith("tower/")) for k, v in initial().items()}
    groups = []
    base = 0.01 if kind == "AdamW" else 0.1
    for k, v in p.items():
        if not v.requires_grad:
            continue
        lr, wd = settings(k)
        groups.append({"params": [v], "lr": base * lr, "weight_decay": wd})
    opt = torch.optim.AdamW(groups, lr=base) if kind == "AdamW" else torch.optim.SGD(groups, lr=base, momentum=0.9)
    losses = []
    for step in range(20):
        loss = forward(p, *map(torch.tensor, batch(step)))
        opt.zero_grad()
        loss.backward()
        if clip == "full_model":
            torch.nn.utils.clip_grad_norm_([v for v in p.values() if v.requires_grad], 0.5)
        if clip == "norm":
            for v in p.values():
                if v.requires_grad:
                    torch.nn.utils.clip_grad_norm_([v], 0.1)
        if clip == "value":
            torch.nn.utils.clip_grad_value_([v for v in p.values() if v.requires_grad], 0.01)
        opt.step()
        losses.append(float(loss))
    return {k: v.detach().numpy() for k, v in p.items()}, losses


out = {}
for kind in ("AdamW", "SGD"):
    for clip in (None, "full_model", "norm", "value"):
        p, losses = run(kind, clip)
        tag = f"{kind}-{clip}"
        out[tag + "|losses"] = np.array(losses)
        if clip is None:
            for k, v in p.items():
                out[tag + "|" + k] = v
        else:
            for k in ("tokens_w", "block1/fc1_w", "head_b"):
                out[tag + "|" + k] = p[k]
        print(tag, losses[0], losses[-1])
np.savez_compressed("torch_golden.npz", **out)
