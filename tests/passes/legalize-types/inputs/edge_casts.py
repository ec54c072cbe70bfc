"""Casts between all element types, saturated and not, of numbers at and next to the ends of types, against tests/kernels/elements.py, whose
sums are of float64 and of Python's integers: by the default pipeline on one machine. Every NaN is the same."""
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.environ["TEST_ROOT"], "tests", "kernels"))
import elements  # noqa: E402

TYPES = [t for t in elements.TYPES if t not in ("index", "mask", "rec64")]
WHOLE = [0, 1, 2, 3, 448, 464, 465, 480, 57344, 61439, 61440, 65503, 65504, 65519, 65520, 65535, 65536, 2**24 - 1, 2**24 + 1, 2**53 + 1]
WHOLE += [2**p + d for p in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, 0, 1)]
WHOLE += [2**p - 2**q for p in (31, 32, 63, 64) for q in (p - 24, p - 25, p - 9, p - 12)]


def edges(t):
    if elements.size(t) == 1:
        return np.arange(2 if t == "bool" else 256, dtype=np.uint8)
    if not elements.is_float(t):
        return np.unique(elements.int_bits(t, WHOLE + [-v for v in WHOLE]))
    numbers = np.array([float(v) for v in WHOLE] + [0.25, 0.5, 1.5, 2.5, 127.5, 128.5, 254.5, 255.5, 32767.5, 65535.5])
    tops = [elements.positive_values(other)[-2] for other in elements.FLOATS if other != "f32"] + [2.0**-149, 2.0**-126, 2.0**127, np.inf]
    bits = elements.encode(t, np.append(numbers, tops))
    near = np.unique(np.concatenate((bits, bits + bits.dtype.type(1), bits - bits.dtype.type(1))))
    return np.append(near, np.bitwise_xor(near, bits.dtype.type(1 << (8 * elements.size(t) - 1))))


def as_numbers(t, bits):
    """As .npy has the type; of floats that numpy has not, the bits."""
    return bits.view({"f32": np.float32, "f16": np.float16}[t] if t in ("f32", "f16") else bits.dtype if elements.is_float(t) else
                     bool if t == "bool" else elements.int_type(t))


def differing(t, got, wanted):
    """Where bits are wrong."""
    wrong = got != wanted
    if elements.is_float(t):
        wrong &= ~(np.isnan(elements.decode(t, got)) & np.isnan(elements.decode(t, wanted)))
    return np.flatnonzero(wrong)


def wrong_casts(machine, src):
    """How many casts of a type there are, and what is wrong."""
    bits = edges(src)
    made = [(to, clamps) for to in TYPES for clamps in (False, True) if not clamps or elements.cast_options(to, src, None, True)]
    types = [f"tensor<{bits.size} x {to}>" for to, _ in made]
    with open("casts.ptir", "w", encoding="ascii") as out:
        out.write(f"func @f(%x: tensor<{bits.size} x {src}>) -> ({', '.join(types)}) {{\n")
        for i, (_, clamps) in enumerate(made):
            out.write(f"  %y{i} = tensor.cast %x{' {saturate = true}' if clamps else ''} : {types[i]}\n")
        out.write(f"  return {', '.join(f'%y{i}' for i in range(len(made)))}\n}}\n")
    np.save("x.npy", as_numbers(src, bits))
    command = ["pto-run", "casts.ptir", "--pipeline=default.yaml", f"--machine={machine}", "--in", "x=x.npy"]
    done = subprocess.run(command + [f"--out=y{i}=y{i}.npy" for i in range(len(made))], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"casts of {src} on {machine}: status {done.returncode}\n{done.stderr[:2000]}")
    texts = []
    for i, (to, clamps) in enumerate(made):
        got = np.load(f"y{i}.npy").reshape(-1).view(elements.bits_type(to))
        wanted = elements.convert(to, src, bits, "rint", clamps, False)
        for at in differing(to, got, wanted)[:1]:
            texts.append(f"{src} to {to}{', saturated' if clamps else ''}: of {bits[at]:#x} {got[at]:#x} and not {wanted[at]:#x}")
    return len(made), texts


machine = sys.argv[1]
total, wrong = 0, []
for source in TYPES:
    count, texts = wrong_casts(machine, source)
    total += count
    wrong += texts
print("\n".join(wrong + [f"{total} casts, {len(wrong)} wrong"]))
sys.exit(1 if wrong else 0)
