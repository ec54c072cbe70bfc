"""Integers at the ends of their range with `semantics: chip`, against numpy; see integers-at-their-edges.sh."""
import subprocess

import numpy as np

BACKEND = "{ use: pto.cpu-sim, with: { semantics: chip } }"
FULL = "pto-pipeline: 1\nextends: default.yaml\nedit:\n  - { set: backend.with.semantics, to: chip }\n"
TILES = f"pto-pipeline: 1\nmachine: ascend-910b\npasses: [pto.select, pto.order, pto.allocate, pto.synchronize, pto.task-graph]\nbackend: {BACKEND}\n"
RELATIONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
LEAST, MOST = -(2**31), 2**31 - 1
NUMBERS = [0, 1, 2, 3, 5, 7, 767, 768, 769, 46340, 46341, 2**24 - 1, 2**24, 2**24 + 1, 2**30, MOST - 1, MOST]
NUMBERS = np.array(NUMBERS + [-n for n in NUMBERS[1:]] + [LEAST, LEAST + 1], np.int64)


def run(name, text, pipeline, **arrays):
    with open("f.ptir", "w", encoding="utf-8") as f:
        f.write(text)
    with open("p.yaml", "w", encoding="utf-8") as f:
        f.write(pipeline)
    given = []
    for key, value in arrays.items():
        np.save(key, value)
        given += ["--in", f"{key}={key}.npy"]
    subprocess.run(["pto-run", "f.ptir", "--pipeline=./p.yaml", *given, "--out", "z=z.npy"], check=True, stdout=subprocess.DEVNULL)
    return np.load("z.npy")


def same(name, got, wanted, *operands):
    wrong = np.flatnonzero(got.ravel() != wanted.ravel())
    if wrong.size:
        at = wrong[0]
        raise SystemExit(f"{name}: {[o.ravel()[at] for o in operands]} gives {got.ravel()[at]}, not {wanted.ravel()[at]}; {wrong.size} are wrong")


def pairs(rng, count):
    a, b = (g.ravel() for g in np.meshgrid(NUMBERS, NUMBERS))
    more = rng.integers(LEAST, MOST + 1, (2, count - a.size)) >> rng.integers(0, 31, (2, count - a.size))
    return np.concatenate([a, more[0]]).astype(np.int32), np.concatenate([b, more[1]]).astype(np.int32)


def compare(rng):
    a, b = (x.reshape(32, 64) for x in pairs(rng, 2048))
    for word, relation in RELATIONS.items():
        for scalar in (None, LEAST, -1, 7, MOST):
            form = f"tile.cmp %a, %b {{relation = \"{word}\"}}" if scalar is None else f"tile.cmps %a, %s {{relation = \"{word}\"}}"
            text = f"""func @f(%x: gm<32 x 64 x i32>, %y: gm<32 x 64 x i32>, out %z: gm<32 x 64 x i32>) {{
  exec.launch @k args(%x, %y, %z)
  return
}}
block.kernel @k core(vector) grid(%i: 1) reads(%x, %y) writes(%z) (%x: gm<32 x 64 x i32>, %y: gm<32 x 64 x i32>, out %z: gm<32 x 64 x i32>) {{
  %one = constant {{value = 1}} : i32
  %none = constant {{value = 0}} : i32
  %s = constant {{value = {scalar or 0}}} : i32
  %a = tile.load %x[0, 0] size(32, 64) : tile<32 x 64 x i32, vec, nd>
  %b = tile.load %y[0, 0] size(32, 64) : tile<32 x 64 x i32, vec, nd>
  %m = {form} : tile<32 x 64 x mask, vec, nd>
  %u = tile.fill %one valid(32, 64) : tile<32 x 64 x i32, vec, nd>
  %r = tile.selects %m, %u, %none : tile<32 x 64 x i32, vec, nd>
  tile.store %r, %z[0, 0]
}}
"""
            other = b if scalar is None else np.full_like(a, scalar)
            same(word, run(word, text, TILES, x=a, y=b), relation(a, other).astype(np.int32), a, other)


def divide(rng):
    a, b = pairs(rng, 4096)
    wide, by = a.astype(np.int64), np.where(b == 0, 1, b).astype(np.int64)
    floor, rest = wide // by, wide % by
    inexact = (rest != 0) & ((wide < 0) != (by < 0))
    wanted = {"floordiv": floor, "mod": rest, "div": floor + inexact, "fmod": rest - by * inexact}
    for name, result in wanted.items():
        text = f"func @f(%x: tensor<4096 x i32>, %y: tensor<4096 x i32>) -> tensor<4096 x i32> {{\n  %z = tensor.{name} %x, %y : tensor<4096 x i32>\n  return %z\n}}\n"
        same(name, run(name, text, FULL, x=a, y=b), np.where(b == 0, -1, result).astype(np.int32), a, b)


def shift(rng):
    for dtype in (np.int32, np.uint32, np.int16, np.uint8):
        bits, info = 8 * np.dtype(dtype).itemsize, np.iinfo(dtype)
        a = np.concatenate([[info.min, info.max, 0, 1], rng.integers(info.min, int(info.max) + 1, 1020)]).astype(dtype)
        by = np.concatenate([[0, bits - 1, bits, bits + 1, info.max, info.min], rng.integers(0, 2 * bits, 1018)]).astype(dtype)
        rng.shuffle(by)
        amounts = [min(int(n), 64) if n >= 0 else 64 for n in by]
        wanted = {"shl": [(int(x) << n) & (2**bits - 1) for x, n in zip(a, amounts)], "shr": [int(x) >> n for x, n in zip(a, amounts)]}
        name = {np.int32: "i32", np.uint32: "u32", np.int16: "i16", np.uint8: "u8"}[dtype]
        for op, result in wanted.items():
            text = f"func @f(%x: tensor<1024 x {name}>, %y: tensor<1024 x {name}>) -> tensor<1024 x {name}> {{\n  %z = tensor.{op} %x, %y : tensor<1024 x {name}>\n  return %z\n}}\n"
            same(f"{op} {name}", run(op, text, FULL, x=a, y=by), np.array(result, np.int64).astype(dtype), a, by)


def nearest(n, digits):
    """The whole number with so many binary digits that is nearest, of two the one whose last digit is even."""
    left = max(abs(n).bit_length() - digits, 0)
    whole, rest = abs(n) >> left, abs(n) & ((1 << left) - 1)
    half = (1 << left) >> 1
    whole += left > 0 and (rest > half or (rest == half and whole & 1 == 1))
    return (whole << left) * (-1 if n < 0 else 1)


def round_once(rng):
    ends = np.array([2**k + d for k in range(8, 31) for d in (-1, 0, 1)] + [2**30 + 2**22 + 1, 2**30 + 2**22, LEAST, MOST], np.int64)
    near = (rng.integers(128, 256, 400) << 16) + 2**15 + rng.integers(-1, 2, 400)
    a = np.concatenate([ends, -ends[:-2], near, -near]).astype(np.int32)
    for to, digits in (("bf16", 8), ("f16", 11)):
        text = f"func @f(%x: tensor<{a.size} x i32>) -> tensor<{a.size} x f32> {{\n  %y = tensor.cast %x : tensor<{a.size} x {to}>\n  %z = tensor.cast %y : tensor<{a.size} x f32>\n  return %z\n}}\n"
        wanted = np.array([float(nearest(int(n), digits)) for n in a])
        if to == "f16":
            wanted = np.where(np.abs(wanted) > 65504, np.copysign(np.inf, wanted), wanted)
        same(f"i32 -> {to}", run(to, text, FULL, x=a), wanted.astype(np.float32), a)


if __name__ == "__main__":
    random = np.random.default_rng(11)
    compare(random)
    divide(random)
    shift(random)
    round_once(random)
