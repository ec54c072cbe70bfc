"""Casts between all element types with each of their options that has an effect: a pass that takes one apart leaves casts that the verifier
takes, whose options have an effect too."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["TEST_ROOT"], "tests", "kernels"))
import elements  # noqa: E402

TYPES = [t for t in elements.TYPES if t not in ("index", "mask", "rec64")]
MODES = (None, "none", "rint", "round", "floor", "ceil", "trunc", "odd")


def casts(src):
    """Functions, one for each target and set of options."""
    text, count = "", 0
    for to in TYPES:
        for words in sorted({", ".join(elements.cast_options(to, src, mode, clamps)) for mode in MODES for clamps in (False, True)}):
            options = f" {{{words}}}" if words else ""
            text += f"func @f{count}(%x: tensor<8 x {src}>) -> tensor<8 x {to}> {{\n"
            text += f"  %y = tensor.cast %x{options} : tensor<8 x {to}>\n  return %y\n}}\n"
            count += 1
    return text, count


total = 0
for src in TYPES:
    text, count = casts(src)
    with open("casts.ptir", "w", encoding="ascii") as out:
        out.write(text)
    for machine in ("ascend-910b", "ascend-950"):
        command = ["pto-opt", "casts.ptir", "--passes=pto.legalize-types", f"--machine={machine}", "-o", os.devnull]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"casts of {src} on {machine}: status {done.returncode}\n{done.stderr[:2000]}")
    total += count
print(f"{total} casts")
assert total > 1000
