"""Cases of conv2d for make_tensor_ops_tables.py, from the definition: sums over the padded x in float64, or exact."""
import numpy as np

import elements as el
from tensor_table import Array, case, data, ints, rounded, to_bits


def extents(x, w, strides=(1, 1), dilations=(1, 1), low=(0, 0), high=(0, 0), groups=1):
    """The shape of the result."""
    windows = ((x[d + 1] + low[d] + high[d] - (w[d] - 1) * dilations[d] - 1) // strides[d] + 1 for d in range(2))
    return (x[0], *windows, w[3])


def convolved(x, w, bias=None, strides=(1, 1), dilations=(1, 1), low=(0, 0), high=(0, 0), groups=1, layout="nhwc"):
    """x: batch, rows, columns, channels; w: rows, columns, channels of a group, results. With nchw batch, channels, rows, columns, and results, channels, rows, columns."""
    if layout == "nchw":
        return convolved(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), bias, strides, dilations, low, high, groups).transpose(0, 3, 1, 2)
    shape = extents(x.shape, w.shape, strides, dilations, low, high)
    x = np.pad(x, ((0, 0), (low[0], high[0]), (low[1], high[1]), (0, 0)))
    y = np.zeros(shape, dtype=np.result_type(x.dtype, w.dtype))
    channels, results = w.shape[2], w.shape[3] // groups
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            met = x[:, i * dilations[0]::strides[0], j * dilations[1]::strides[1]][:, :shape[1], :shape[2]]
            for g in range(groups):
                of = slice(g * results, (g + 1) * results)
                if channels:
                    y[..., of] += np.tensordot(met[..., g * channels:(g + 1) * channels], w[i, j, :, of], 1)
    return y if bias is None else y + bias


# Extents of x and w, and attributes.
SHAPES = [
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((2, 5, 7, 3), (1, 1, 3, 5), {}),
    ((2, 5, 7, 3), (3, 2, 3, 5), {}),
    ((1, 11, 13, 2), (3, 3, 2, 7), dict(strides=(2, 3), dilations=(2, 1))),
    ((2, 5, 4, 3), (3, 3, 3, 2), dict(low=(1, 2), high=(0, 1))),
    ((2, 3, 4, 6), (2, 2, 2, 9), dict(groups=3, high=(1, 1))),
    ((1, 4, 5, 4), (3, 3, 1, 4), dict(groups=4, low=(1, 1), high=(1, 1), strides=(2, 2))),
    ((1, 2, 1, 2), (3, 5, 2, 3), dict(low=(4, 4), high=(3, 3), dilations=(2, 2))),
    ((0, 5, 5, 3), (3, 3, 3, 2), {}),
    ((2, 5, 5, 0), (3, 3, 0, 2), {}),
    ((2, 3, 3, 2), (2, 2, 2, 0), {}),
    ((1, 3, 3, 301), (2, 3, 301, 3), {}),
]


def conv_cases():
    for t in ("f32", "f16", "bf16", "i8"):
        for x_shape, w_shape, given in SHAPES:
            for to in {"f32": ["f32"], "i8": ["i8", "i32"]}.get(t, [t, "f32"]):
                for bias_type in (None, to):
                    kind = "moderate" if el.is_float(t) else None
                    x, w = data(t, x_shape, kind), data(t, w_shape, kind)
                    ins, bias = [Array(t, x), Array(t, w)], None
                    wide = (lambda kind, bits: el.decode(kind, bits).reshape(bits.shape)) if el.is_float(t) else ints
                    if bias_type:
                        bits = data(bias_type, w_shape[3:], kind)
                        ins.append(Array(bias_type, bits))
                        bias = wide(bias_type, bits)
                    y = convolved(wide(t, x), wide(t, w), bias, **given)
                    want = rounded(to, np.where(np.abs(y) < 1e-12, 0, y)) if el.is_float(t) else to_bits(to, y)
                    case("conv2d", f"{t}->{to} {x_shape} {w_shape} {bias_type}", to, want, ins, ulp=1 if el.is_float(t) else 0,
                         axes=given.get("dilations", ()), offsets=given.get("low", ()), strides=given.get("strides"), groups=given.get("groups", 0))
    # Zeros around x are multiplied too.
    x, w = np.ones((1, 1, 1, 1)), np.array([[[[np.inf]], [[1.0]]]])
    case("conv2d", "infinity outside", "f32", rounded("f32", np.array([[[[np.nan]]]])), [Array("f32", el.encode("f32", x.ravel()).reshape(x.shape)), Array("f32", el.encode("f32", w.ravel()).reshape(w.shape))], offsets=(0, 1))
