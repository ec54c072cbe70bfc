"""What the data makers share: bf16 as 16-bit patterns, sizes from the command line, reproducible inputs.

A data maker is called as `make_data.py OUT_DIR SYMBOL=VALUE ...` and writes .npy files into OUT_DIR. References are
computed in float64 from the maths; `*_magnitude.npy` holds, for each output element, the sum of the magnitudes of the
terms it is made of, which the f32-reduce rule multiplies with its bound.
"""

import os
import sys

import numpy as np


def bf16_from_f32(x):
    """Rounds float32 to bfloat16 patterns (uint16), ties to even; NaNs stay quiet NaNs with their sign."""
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    rounded = (bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16
    nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(nan, (bits >> 16) | 0x40, rounded).astype(np.uint16)


def f32_from_bf16(patterns):
    """The exact float32 value of bfloat16 patterns."""
    return (np.asarray(patterns, dtype=np.uint16).astype(np.uint32) << 16).view(np.float32)


def wide(patterns):
    """bfloat16 patterns as float64."""
    return f32_from_bf16(patterns).astype(np.float64)


def rounded(x):
    """Float64 numbers rounded to bfloat16, as float64: where a program rounds to bf16 between two steps."""
    return wide(bf16_from_f32(np.asarray(x).astype(np.float32)))


SUM = 8 * 2.0**-24  # of rule f32-reduce


def sum_error(magnitude, terms):
    """How far a sum of so many terms in float32 may be off, whose magnitudes have the sum `magnitude`: rule f32-reduce."""
    return SUM * terms**0.5 * magnitude


def doubt(x, error):
    """How far apart the bf16 numbers are that x may be rounded to where it is computed with that error: mostly 0."""
    return np.abs(rounded(x + error) - rounded(x - error))


def doubtful_sum(doubts, factors):
    """How far doubts @ factors may be off. They go either way by chance: of many, four times the root of their squares."""
    return np.minimum(doubts @ np.abs(factors), 4 * np.sqrt(doubts**2 @ factors**2))


def chance_error(a, b):
    """How far a @ b in float32 is off where signs are those of chance: roundings of as many partial sums, four times the root of their
    squares. Far less than sum_error, by which numbers in bf16 would all be doubtful."""
    return 4 * 2.0**-24 * a.shape[-1] ** 0.5 * np.sqrt(a**2 @ b**2)


def rms_error(x, doubts, gain, eps=1e-6):
    """rms(x) gain, and how far it may be off in float32 where elements of x are off by `doubts`: by rule f32-reduce the mean of squares is,
    and the root by half of that."""
    terms, root = x.shape[-1], 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    y, parts = x * root * gain, doubts * np.abs(x) * root**2 / x.shape[-1]
    turns = np.minimum(parts.sum(axis=-1, keepdims=True), 4 * np.sqrt((parts**2).sum(axis=-1, keepdims=True)))
    return y, np.abs(y) * (turns + sum_error(1, terms) / 2 + 2.0**-22) + doubts * root * np.abs(gain)


def quantised_doubts(x, doubts):
    """How far integers and scales of `quantised` may be off where elements of x are off by `doubts`."""
    scale = quantised(x)[1]
    (up, most), (down, least) = (quantised(x + sign * np.sign(x) * doubts) for sign in (1, -1))
    (high, low) = (np.clip(np.rint((x + sign * doubts) / scale), -128, 127) for sign in (1, -1))
    return np.maximum(np.abs(up - down), high - low), most - least


def rounded_spread(x, spread):
    """The root of the mean square by which `rounded` moves x when that is off by `spread`, likewise: of few it moves by a whole step."""
    step = np.ldexp(1.0, np.frexp(x)[1] - 8)
    return np.sqrt(step * spread + spread**2)


def turned_step(doubts, cos, sin):
    """How far elements of `turned` may be off: a turn adds up what may be of opposite signs, so that a rounding before it is more than its
    result at times."""
    p, q = np.split(doubts, 2, -1)
    return np.concatenate([p * np.abs(cos) + q * np.abs(sin), q * np.abs(cos) + p * np.abs(sin)], -1)


def bf16_out_magnitude(y, step):
    """What makes rule f32-reduce of one term that of bf16-out and `step`, which y is off where its terms are doubtful."""
    return (1e-4 + 2.0**-7 * np.abs(y) + step) / SUM


def quantised(x):
    """Integers of i8 for each row of x, as float64, and the scale of the row, its largest magnitude over 127 (of zeros 1).
    Steps are in float32, as programs have them: where a number is between two integers is part of what they compute."""
    x = np.asarray(x).astype(np.float32)
    scale = (np.abs(x).max(axis=-1, keepdims=True) / np.float32(127)).astype(np.float32)
    scale = np.where(scale == 0, np.float32(1), scale)
    return np.clip(np.rint(x / scale), -128, 127).astype(np.float64), scale.astype(np.float64)


def rms(x, eps=1e-6):
    """x over the root of the mean of its squares, along the last dim."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)


def turned(x, cos, sin, interleaved=False):
    """Rotary embedding of pairs of elements of the last dim: halves, or neighbours."""
    p, q = (x[..., ::2], x[..., 1::2]) if interleaved else np.split(x, 2, -1)
    parts = p * cos - q * sin, q * cos + p * sin
    return np.stack(parts, -1).reshape(x.shape) if interleaved else np.concatenate(parts, -1)


def angles(places, pairs):
    """cos and sin in float32 of each place, for the pairs of a rotary embedding."""
    angle = np.asarray(places)[..., None] / 10000.0 ** (np.arange(pairs) / pairs)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


class Case:
    """One call of a data maker."""

    def __init__(self, seed):
        self.out = sys.argv[1]
        self.sizes = {k: int(v) for k, v in (a.split("=", 1) for a in sys.argv[2:])}
        self.rng = np.random.default_rng(seed)
        os.makedirs(self.out, exist_ok=True)

    def __getitem__(self, symbol):
        return self.sizes[symbol]

    def normal(self, *shape, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def bf16(self, *shape, scale=1.0):
        return bf16_from_f32(self.normal(*shape, scale=scale))

    def i8(self, *shape):
        return self.rng.integers(-127, 128, shape).astype(np.int8)

    def positive(self, *shape, scale=1.0):
        return (self.rng.uniform(0.5, 1.5, shape) * scale).astype(np.float32)

    def save(self, **arrays):
        for name, array in arrays.items():
            np.save(os.path.join(self.out, name + ".npy"), np.ascontiguousarray(array))


def check_bf16():
    """All 65,536 patterns survive the way to float32 and back, and halves round to even."""
    patterns = np.arange(65536, dtype=np.uint32).astype(np.uint16)
    back = bf16_from_f32(f32_from_bf16(patterns))
    nan = (patterns & 0x7FFF) > 0x7F80
    assert np.array_equal(back[~nan], patterns[~nan])
    assert np.array_equal(back[nan], patterns[nan] | 0x40)
    finite = patterns[(patterns & 0x7F80) != 0x7F80].astype(np.uint32)
    half = ((finite << 16) | 0x8000).view(np.float32)
    assert np.array_equal(bf16_from_f32(half), (finite + (finite & 1)).astype(np.uint16))
    below = ((finite << 16) | 0x7FFF).view(np.float32)
    assert np.array_equal(bf16_from_f32(below), finite.astype(np.uint16))
    print("bf16: 65536 patterns, 0 differ")


if __name__ == "__main__":
    check_bf16()
