#!/usr/bin/python3
"""Machine files with one fact changed: a number to each of several values, an item of a list left out, a line left out. A kernel compiled
and run for such a machine computes the results of the reference, or is refused: by the file's check, by a pass, by the simulator."""
import functools
import re

import attacking

VALUES = ("0", "1", "2", "3", "7", "16", "1000", "1000000", "0.5", "half", "double", "plus one")
KERNELS = (
    ("softmax", "%x: tensor<$B x 48 x f32>", "tensor<$B x 48 x f32>", "  %y = tensor.softmax %x : tensor<$B x 48 x f32>\n", "B=37"),
    ("matmul", "%a: tensor<50 x 96 x f16>, %b: tensor<96 x 70 x f16>", "tensor<50 x 70 x f32>", "  %y = tensor.matmul %a, %b {out = f32} : tensor<50 x 70 x f32>\n", ""),
    ("reductions", "%x: tensor<33 x 300 x f32>", "tensor<33 x 1 x f32>",
     "  %m = tensor.reduce_max %x {axis = 1, nan = \"ignore\"} : tensor<33 x 1 x f32>\n  %s = tensor.reduce_sum %x {axis = 1} : tensor<33 x 1 x f32>\n  %y = tensor.add %m, %s : tensor<33 x 1 x f32>\n", ""),
    ("types", "%x: tensor<19 x 65 x f16>", "tensor<19 x 65 x bf16>",
     "  %e = tensor.sigmoid %x : tensor<19 x 65 x f16>\n  %w = tensor.cast %e : tensor<19 x 65 x f32>\n  %y = tensor.cast %w {mode = \"rint\"} : tensor<19 x 65 x bf16>\n", ""),
    ("product-then-vector", "%a: tensor<$M x 64 x bf16>, %b: tensor<64 x 32 x bf16>, %c: tensor<32 x f32>", "tensor<$M x 32 x f32>",
     "  %p = tensor.matmul %a, %b {out = f32} : tensor<$M x 32 x f32>\n  %q = tensor.add %p, %c : tensor<$M x 32 x f32>\n  %y = tensor.gelu %q : tensor<$M x 32 x f32>\n", "M=21"),
    ("integers", "%x: tensor<9 x 130 x i32>, %z: tensor<130 x i32>", "tensor<9 x 130 x i32>",
     "  %a = tensor.mul %x, %z : tensor<9 x 130 x i32>\n  %b = tensor.maximum %a, %z : tensor<9 x 130 x i32>\n  %y = tensor.sub %b, %x : tensor<9 x 130 x i32>\n", ""),
)


@functools.cache
def changes():
    """[(what, text)]: every change of every machine file."""
    made = []
    for name in ("ascend-910b", "cpu-generic"):
        with open(f"{attacking.ROOT}/pipelines/machines/{name}.yaml", encoding="utf-8") as f:
            text = re.sub(r"[ \t]+#.*", "", f.read())
        def add(what, begin, end, new, text=text, name=name):
            line = text.count("\n", 0, begin) + 1
            made.append((f"{name}.yaml:{line}: {what}", text[:begin] + new + text[end:]))
        for m in re.finditer(r"(?<=[ :\[])\d+(\.\d+)?(?=[ ,}\n\]]|KiB|GiB)", text):
            if text.rfind("\n", 0, m.start()) < text.find("pto-machine:") + 12:
                continue
            old = float(m[0])
            for value in VALUES:
                new = {"half": old / 2, "double": old * 2, "plus one": old + 1}.get(value, value)
                new = new if isinstance(new, str) else f"{new:g}" if new % 1 else str(int(new))
                if new != m[0]:
                    add(f"{m[0]} is {new}", m.start(), m.end(), new)
        for m in re.finditer(r"\[([\w-]+(?:, [\w-]+)*)\]", text):
            items = m[1].split(", ")
            for i, item in enumerate(items):
                add(f"without {item}", m.start(1), m.end(1), ", ".join(items[:i] + items[i + 1:]))
        for m in re.finditer(r"(?<=pipe: )\w+", text):
            for pipe in ("s", "v", "m", "mte1", "mte2", "mte3", "fix"):
                if pipe != m[0]:
                    add(f"{m[0]} is {pipe}", m.start(), m.end(), pipe)
        for m in re.finditer(r"(?m)^ +.*\n", text):
            add(f"without `{m[0].strip()[:60]}`", m.start(), m.end(), "")
    return made


def check(tools, seed, found):
    """Walks all changes and kernels in an order that spreads over the files."""
    made = changes()
    n = len(made) * len(KERNELS)
    at = seed * 7919 % n
    (what, text), (name, parameters, result, body, symbols) = made[at // len(KERNELS)], KERNELS[at % len(KERNELS)]
    tools.write("machine.yaml", text)
    tools.write("kernel.ptir", f"func @f({parameters}) -> {result} {{\n{body}  return %y\n}}\n")
    try:
        status, _, _ = tools.run("pto-run", "kernel.ptir", "--machine=./machine.yaml", "--random-inputs=3", "--compare=reference.yaml", "--time-limit=60",
                                 *(f"--sym={s}" for s in symbols.split()), may=attacking.REFUSALS[1:])
    except attacking.Wrong as e:
        raise attacking.Wrong(f"{name}, {what}: {e}") from None
    found["agree" if status == 0 else f"refused with {status}"] += 1


if __name__ == "__main__":
    attacking.main(check)
