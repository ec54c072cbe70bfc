"""Plants faults of silicon in compiled and in written kernels; see planted-faults.sh."""
import re
import subprocess
import sys

PIPELINE = "pto-pipeline: 1\nmachine: ascend-910b\npasses: []\nbackend: { use: pto.cpu-sim-unchecked, with: { semantics: chip } }\n"
VECTOR = """
func @f(%x: gm<32 x 64 x f32>, out %y: gm<32 x 64 x f32>) {
  exec.launch @k args(%x, %y)
  return
}
block.kernel @k core(vector) grid(%i: 2) reads(%x) writes(%y) (%x: gm<32 x 64 x f32>, out %y: gm<32 x 64 x f32>) {
  %p = block.buffer {space = vec, bytes_per_stage = 4096, addr = 0} : buffer
  %q = block.buffer {space = vec, bytes_per_stage = 4096, addr = 4096} : buffer
  %r = block.buffer {space = vec, bytes_per_stage = 64, addr = 8192} : buffer
  %u = block.buffer {space = vec, bytes_per_stage = 4096, addr = 12288} : buffer
  %a = block.tile %p[0] valid(16, 64) : tile<16 x 64 x f32, vec, nd>
  %b = block.tile %q[0] valid(16, 64) : tile<16 x 64 x f32, vec, nd>
  %s = block.tile %r[0] valid(16, 1) : tile<16 x 1 x f32, vec, dn>
  %t = block.tile %u[0] valid(16, 64) : tile<16 x 64 x f32, vec, nd>
  %j = block.tile %u[0] valid(16, 64) : tile<16 x 64 x i32, vec, nd>
  %part = block.tile %p[0] valid(16, 20) : tile<16 x 64 x f32, vec, nd>
  %three = constant {value = 3.0} : f32
  %none = constant {value = 0.0} : f32
  %far = constant {value = 2147483648.0} : f32
  pto.tload %a, %x[16 * %i, 0]
  pto.set_flag mte2 -> v event(0)
  pto.wait_flag mte2 -> v event(0)
  pto.trecip %b, %a
  pto.barrier v
  pto.trdivs %t, %b, %three
  pto.barrier v
  pto.tdivs %b, %t, %three
  pto.barrier v
  pto.trowsum %s, %b, %t
  pto.set_flag v -> s event(1)
  pto.wait_flag v -> s event(1)
  pto.set_flag s -> v event(1)
  pto.wait_flag s -> v event(1)
  pto.trowexpand %t, %s
  pto.barrier v
  pto.tmul %b, %b, %t
  pto.set_flag v -> mte3 event(0)
  pto.wait_flag v -> mte3 event(0)
  pto.tstore %y[16 * %i, 0], %b
}
"""
CUBE = """
func @f(%a: gm<24 x 40 x f32>, %b: gm<40 x 20 x f32>, out %c: gm<24 x 20 x f32>) {
  exec.launch @k args(%a, %b, %c)
  return
}
block.kernel @k core(cube) grid(%i: 1) reads(%a, %b) writes(%c) (%a: gm<24 x 40 x f32>, %b: gm<40 x 20 x f32>, out %c: gm<24 x 20 x f32>) {
  %A = block.buffer {space = mat, bytes_per_stage = 9216, addr = 0} : buffer
  %B = block.buffer {space = mat, bytes_per_stage = 9216, addr = 9216} : buffer
  %L = block.buffer {space = left, bytes_per_stage = 9216, addr = 0} : buffer
  %R = block.buffer {space = right, bytes_per_stage = 9216, addr = 0} : buffer
  %C = block.buffer {space = acc, bytes_per_stage = 9216, addr = 0} : buffer
  %ta = block.tile %A[0] valid(24, 40) : tile<48 x 48 x f32, mat, nz>
  %tb = block.tile %B[0] valid(40, 20) : tile<48 x 48 x f32, mat, nz>
  %la = block.tile %L[0] {compact = true} valid(24, 40) : tile<48 x 48 x f32, left, zz>
  %rb = block.tile %R[0] {compact = true} valid(40, 20) : tile<48 x 48 x f32, right, zn>
  %acc = block.tile %C[0] {compact = true} valid(24, 20) : tile<48 x 48 x f32, acc, nz>
  pto.tload %ta, %a[0, 0]
  pto.tload %tb, %b[0, 0]
  pto.set_flag mte2 -> mte1 event(0)
  pto.wait_flag mte2 -> mte1 event(0)
  pto.tmov %la, %ta
  pto.tmov %rb, %tb
  pto.set_flag mte1 -> m event(0)
  pto.wait_flag mte1 -> m event(0)
  pto.tmatmul %acc, %la, %rb
  pto.set_flag m -> fix event(0)
  pto.wait_flag m -> fix event(0)
  pto.tstore %c[0, 0], %acc
}
"""
BARRIER, IN_PLACE, EVENT, COMPACT, SIZE, PAD, OTHER = ("pto.cpu-sim/" + code for code in ("no-barrier", "in-place", "event-in-use", "not-compact", "product-size", "pad", "chip-differs"))


def replaced(text, old, new):
    assert text.count(old) == 1, (old, text.count(old))
    return text.replace(old, new)


def written():
    """(what is planted, text, the code, the line that is named)"""
    v = "  pto.barrier v\n"
    for instruction in ("pto.trdivs %t, %b, %three", "pto.tdivs %b, %t, %three", "pto.trowsum %s, %b, %t", "pto.tmul %b, %b, %t"):
        yield f"no barrier before {instruction}", replaced(VECTOR, v + "  " + instruction, "  " + instruction), BARRIER, instruction
    yield "the token that ordered two instructions is gone", re.sub(r"  pto\.(set|wait)_flag (v -> s|s -> v) event\(1\)\n", "", VECTOR), BARRIER, "pto.trowexpand %t, %s"
    chain = "  pto.trecip %b, %a\n  pto.barrier v\n  pto.trdivs %t, %b, %three\n  pto.barrier v\n  pto.tdivs %b, %t, %three\n"
    for at, steps in enumerate((("%a, %a", "%t, %a", "%b, %t"), ("%b, %a", "%b, %b", "%t, %b"), ("%b, %a", "%t, %b", "%t, %t"))):
        named = [f"pto.trecip {steps[0]}", f"pto.trdivs {steps[1]}, %three", f"pto.tdivs {steps[2]}, %three"]
        yield f"in place: {named[at]}", replaced(VECTOR, chain, "  " + "\n  pto.barrier v\n  ".join(named) + "\n"), IN_PLACE, named[at]
    taken = replaced(replaced(VECTOR, "  pto.wait_flag s -> v event(1)\n", ""), "  pto.trowexpand %t, %s\n", "  pto.trowexpand %t, %s\n  pto.wait_flag s -> v event(0)\n").replace("s -> v event(1)", "s -> v event(0)")
    yield "event 0 of s -> v around trowexpand", replaced(taken, "  pto.trowexpand", "  pto.barrier v\n  pto.trowexpand"), EVENT, "pto.trowexpand %t, %s"
    kept = VECTOR.replace("v -> s event(1)", "v -> s event(0)")
    kept = replaced(replaced(kept, "  pto.wait_flag v -> s event(0)\n", ""), "  pto.trowexpand %t, %s\n", "  pto.barrier v\n  pto.trowexpand %t, %s\n  pto.wait_flag v -> s event(0)\n")
    yield "event 0 of v -> s around trowexpand", re.sub(r"  pto\.(set|wait)_flag s -> v event\(1\)\n", "", kept), EVENT, "pto.trowexpand %t, %s"
    product = "pto.tmatmul %acc, %la, %rb"
    for tile in ("%L[0]", "%R[0]", "%C[0]"):
        yield f"{tile} is not compact", replaced(CUBE, tile + " {compact = true}", tile), COMPACT, product
    yield "no k", CUBE.replace("(24, 40)", "(24, 0)").replace("(40, 20)", "(0, 20)"), SIZE, product
    padded = replaced(VECTOR, "  pto.tload %a, %x[16 * %i, 0]\n", "  pto.tload %part, %x[16 * %i, 0] {pad = 0.0}\n")
    yield "columns beyond the padded block", padded, PAD, "pto.trecip %b, %a"
    rows = padded.replace("%part = block.tile %p[0] valid(16, 20)", "%part = block.tile %p[0] valid(15, 64)")
    yield "a row that is not padded", rows, PAD, "pto.trecip %b, %a"
    cast = replaced(VECTOR, "  pto.tmul %b, %b, %t\n", "  pto.tmuls %b, %t, %none\n  pto.barrier v\n  pto.tadds %b, %b, %far\n  pto.barrier v\n  pto.tcvt %j, %b\n  pto.barrier v\n  pto.tcvt %b, %j\n")
    yield "a conversion out of range", cast, OTHER, "pto.tcvt %j, %b"


def compiled(tools=None, folder="."):
    """The same in what the compiler makes of a program. `tools`: the folder of the tools; None: those of PATH."""
    source = "func @f(%x: tensor<1000 x 300 x f32>) -> tensor<1000 x 300 x f32> {\n  %y = tensor.softmax %x {axis = 1} : tensor<1000 x 300 x f32>\n  return %y\n}\n"
    module = folder + "/softmax.ptir"
    open(module, "w", encoding="utf-8").write(source)
    text = subprocess.run([f"{tools}/pto-opt" if tools else "pto-opt", module, "--pipeline=default.yaml"], check=True, capture_output=True, text=True).stdout
    text = re.sub(r"^module [^{]*\{[^}]*\} \{\n(.*)\}\n$", r"\1", text, flags=re.S)
    lines = text.split("\n")
    for n, line in enumerate(lines):
        if line.strip() == "pto.barrier v":
            after = next(x for x in lines[n + 1:] if "pto.t" in x)
            yield f"the compiler's barrier before {after.strip()}", "\n".join(lines[:n] + lines[n + 1:]), BARRIER, after.strip()


def run(text, backend):
    open("k.ptir", "w", encoding="utf-8").write(text)
    out = re.search(r"out %(\w+)", text).group(1)
    return subprocess.run(["pto-run", "k.ptir", *backend, "--random-inputs=1", f"--out={out}=out.npy"], capture_output=True, text=True)


def main():
    open("chip.yaml", "w", encoding="utf-8").write(PIPELINE)
    bad = count = 0
    for name, text in (("the vector kernel", VECTOR), ("the product", CUBE)):
        r = run(text, ["--pipeline=chip.yaml"])
        if r.returncode or r.stderr:
            bad += 1
            print(f"{name} is not right: status {r.returncode}\n{r.stderr}")
    for what, text, code, instruction in [*written(), *compiled()]:
        count += 1
        meant = run(text, ["--passes=", "--backend=pto.reference"])
        found = run(text, ["--pipeline=chip.yaml"])
        said = re.search(rf"^k\.ptir:(\d+):\d+: (?:error|warning): \[{code}\]", found.stderr, re.M)
        named = text.split("\n")[int(said.group(1)) - 1].strip() if said else None
        if meant.returncode == 0 and named is not None and named.startswith(instruction):
            continue
        bad += 1
        print(f"{what}: reference {meant.returncode}, cpu-sim {found.returncode}, named: {named}, not {instruction}\n{meant.stderr[:400]}{found.stderr[:600]}")
    print(f"{count} faults, {bad} not named")
    return bad != 0 or count < 20


if __name__ == "__main__":
    sys.exit(main())
