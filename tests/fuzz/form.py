"""One form, and the arrays of its operands."""

import re

import numpy as np

import elements


def stored(dtype, values):
    """Values as pto-run reads them: bf16 as 16-bit patterns."""
    if dtype == "bf16":
        bits = np.asarray(values, np.float32).view(np.uint32)
        nan = (bits & 0x7FFFFFFF) > 0x7F800000
        rounded = (bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(nan, (bits >> 16) | 0x40, rounded).astype(np.uint16)
    if dtype == "bool":
        return np.asarray(values).astype(np.bool_)
    return np.asarray(values).astype({"f32": np.float32, "f16": np.float16}.get(dtype) or elements.int_type(dtype))


def wide(dtype, array):
    """The float64 or integer values of what pto-run reads and writes."""
    if dtype == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64) if dtype in ("f32", "f16") else array


def fill(rng, dtype, shape, kind):
    if dtype in ("f32", "f16", "bf16"):
        values = rng.standard_normal(shape) * (3.0 if kind != "positive" else 1.0)
        if kind == "positive":
            values = np.abs(values) + 0.25
        if kind == "special" and values.size:
            flat = values.reshape(-1)
            for value in (np.nan, np.inf, -np.inf, -0.0):
                flat[rng.integers(flat.size)] = value
        return stored(dtype, values)
    if dtype == "bool":
        return stored(dtype, rng.integers(0, 2, shape))
    lo, hi = elements.limits(dtype)
    if kind == "extreme":
        return rng.integers(lo, hi, shape, dtype=elements.int_type(dtype), endpoint=True)
    return rng.integers(max(lo, -100), min(hi, 100), shape, dtype=elements.int_type(dtype), endpoint=True)


class Form:
    """`text` writes types as <A + 1 x 4 x f32>, with extents that `sizes` name, and $A elsewhere; `inputs` and `outputs` are such types by name.
    `fill` is what inputs hold. `bound`: |got - want| <= bound * (1 + |want|). `prepare` makes an input, of which `want` then gets the
    bits, and has bits: those of the results must be the same, except for NaN, or `near(got, want)`. With `may_be_refused`, the default
    pipeline may say that the machine has no exact way."""

    def __init__(self, name, inputs, outputs, text, want, sizes, bound=0.0, fill="normal", prepare=None):
        self.name, self.inputs, self.outputs, self.text, self.want = name, inputs, outputs, text, want
        self.sizes, self.bound, self.fill, self.prepare = sizes, bound, fill, prepare
        self.exact_bits = prepare is not None
        self.near, self.may_be_refused = None, False
        self.legal = {}  # inputs that hold indices, each with the dim that they are for

    def module(self, size, symbolic):
        def type_of(match):
            dims = [extent(d) for d in match[1].split(" x ")[:-1]]
            return "tensor<" + " x ".join(dims + match[1].split(" x ")[-1:]) + ">"

        def extent(dim):
            return re.sub("[A-Z]", lambda m: "$" + m[0] if symbolic else str(size[m[0]]), dim)

        def put(text):
            return re.sub(r"<([A-Z0-9][^<>]* x \w+|f32|f16|bf16|[iu]\d+|bool)>", type_of, text)

        text = self.text if symbolic else re.sub(r"\$([A-Z])", lambda m: str(size[m[1]]), self.text)
        body = "\n".join("  " + line.strip() for line in text.strip().splitlines())
        inputs = ", ".join(f"%{n}: {t}" for n, t in self.inputs.items())
        outputs = ", ".join(self.outputs.values())
        returned = ", ".join("%" + n for n in self.outputs)
        return put(f"func @f({inputs}) -> ({outputs}) {{\n{body}\n  return {returned}\n}}\n")

    @staticmethod
    def split(type_text, size):
        parts = type_text.strip("<>").split(" x ")
        return [eval(d.replace("floordiv", "//"), {}, size) for d in parts[:-1]], parts[-1]


def as_given(dtype, bits):
    """Bits as an array that pto-run takes for the type."""
    kind = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, **dict.fromkeys(("f8e4m3", "f8e5m2", "f8e8m0"), np.uint8)}.get(dtype) or elements.int_type(dtype)
    return bits.view(kind)
