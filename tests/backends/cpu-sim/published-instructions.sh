# Cycles of single instructions against published lines (pto-isa 4.5: slope * rows * cols + bias, measured), within 15
# %; and a matrix product against its published formula (4.3), exactly. An instruction costs what its pipe is busy and
# what a barrier after it waits.
set -u
cat >all.py <<'END'
import os, re, subprocess, sys

# Instruction, element type, rows, cols, slope, bias. Where a bias is a range, its middle.
measured = [("adds", "f32", 64, 64, 0.0156, 33.5), ("adds", "f16", 64, 128, 0.0078, 33.5), ("mins", "f32", 64, 64, 0.0156, 33.5),
            ("muls", "f32", 64, 64, 0.0156, 34.5), ("mul", "f32", 64, 64, 0.0312, 42.5), ("mul", "f16", 64, 128, 0.0156, 42.5),
            ("sub", "f32", 64, 64, 0.0312, 42.5), ("divs", "f32", 64, 64, 0.0781, 53.5), ("exp", "f32", 64, 64, 0.0314, 30.1),
            ("sqrt", "f32", 64, 64, 0.0314, 31.1), ("rowsum", "f32", 64, 64, 0.1094, 44), ("rowsum", "f32", 64, 128, 0.0625, 61.5),
            ("rowsum", "f32", 64, 240, 0.0469, 99), ("rowsum", "f32", 32, 304, 0.0431, 104), ("rowmax", "f32", 64, 64, 0.1094, 32),
            ("rowmax", "f32", 64, 128, 0.0625, 48), ("rowmax", "f32", 64, 240, 0.0448, 100), ("colsum", "f32", 64, 96, 0.2187, 14),
            ("colsum", "f32", 64, 144, 0.158, 27), ("colsum", "f32", 64, 208, 0.1166, 36), ("colmax", "f32", 64, 64, 0.2734, 17),
            ("colmax", "f32", 64, 128, 0.1571, 10), ("rowexpand", "f32", 64, 64, 0.2187, 37), ("rowexpand", "f32", 64, 128, 0.1176, 34.5)]
operands = {"exp": "%d, %a", "sqrt": "%d, %a", "mul": "%d, %a, %a", "sub": "%d, %a, %a", "rowsum": "%r, %a, %t", "rowmax": "%r, %a, %t",
            "colsum": "%c, %a", "colmax": "%c, %a", "rowexpand": "%d, %r"}
wrong = []


def counters(text):
    open("one.ptir", "w").write(text)
    pipeline = f"{os.environ['TEST_ROOT']}/tests/backends/cpu-sim/inputs/exec.yaml"
    r = subprocess.run(["pto-run", "one.ptir", f"--pipeline={pipeline}", "--random-inputs=1", "--counters"], capture_output=True, text=True)
    if r.returncode:
        sys.exit(text + r.stderr)
    return {name: int(cycles) for name, cycles in re.findall(r"^([^:]+): (\d+) cycles", r.stdout, re.M)}


def vector(insn, dtype, rows, cols):
    scalar = insn.endswith("s") and insn != "colsum"
    load = f"pto.tload %r, %v[0, 0]" if insn == "rowexpand" else "pto.tload %a, %x[0, 0]"
    size = 2 if dtype == "f16" else 4
    parameters = f"(%x: gm<{rows} x {cols} x {dtype}>, %v: gm<{rows} x 1 x {dtype}>)"
    found = counters(f"""func @f{parameters} {{
  exec.launch @k args(%x, %v)
  return
}}
block.kernel @k core(vector) grid(%i: 1) reads(%x, %v) writes() {parameters} {{
  {'%s = constant {value = 3.0} : ' + dtype if scalar else ''}
  %ab = block.buffer {{space = vec, bytes_per_stage = {rows * cols * size}, addr = 0}} : buffer
  %db = block.buffer {{space = vec, bytes_per_stage = {rows * cols * size}, addr = 65536}} : buffer
  %vb = block.buffer {{space = vec, bytes_per_stage = {max(rows, cols) * size}, addr = 131072}} : buffer
  %a = block.tile %ab[0] valid({rows}, {cols}) : tile<{rows} x {cols} x {dtype}, vec, nd>
  %d = block.tile %db[0] valid({rows}, {cols}) : tile<{rows} x {cols} x {dtype}, vec, nd>
  %t = block.tile %db[0] valid({rows}, {cols}) : tile<{rows} x {cols} x {dtype}, vec, nd>
  %r = block.tile %vb[0] valid({rows}, 1) : tile<{rows} x 1 x {dtype}, vec, dn>
  %c = block.tile %vb[0] valid(1, {cols}) : tile<1 x {cols} x {dtype}, vec, nd>
  {load}
  pto.set_flag mte2 -> v event(0)
  pto.wait_flag mte2 -> v event(0)
  pto.t{insn} {operands.get(insn, '%d, %a, %s')}
  pto.barrier v
}}
""")
    # Less the wait_flag and the barrier itself.
    return found["vector / v / busy"] + found.get("vector / v / stall / barrier", 0) - 2


for insn, dtype, rows, cols, slope, bias in measured:
    cycles, want = vector(insn, dtype, rows, cols), slope * rows * cols + bias
    what = f"t{insn} {dtype} {rows} x {cols}: {cycles} cycles, measured {want:.1f}, {cycles / want:.2f}"
    print(what)
    if not 0.85 < cycles / want < 1.15:
        wrong.append(what)

found = counters("""func @f(%x: gm<128 x 128 x f16>) {
  exec.launch @k args(%x)
  return
}
block.kernel @k core(cube) grid(%i: 1) reads(%x) writes() (%x: gm<128 x 128 x f16>) {
  %Mb = block.buffer {space = mat, bytes_per_stage = 32768, addr = 0} : buffer
  %Lb = block.buffer {space = left, bytes_per_stage = 32768, addr = 0} : buffer
  %Rb = block.buffer {space = right, bytes_per_stage = 32768, addr = 0} : buffer
  %Cb = block.buffer {space = acc, bytes_per_stage = 65536, addr = 0} : buffer
  %m = block.tile %Mb[0] valid(128, 128) : tile<128 x 128 x f16, mat, nz>
  %l = block.tile %Lb[0] valid(128, 128) : tile<128 x 128 x f16, left, zz>
  %r = block.tile %Rb[0] valid(128, 128) : tile<128 x 128 x f16, right, zn>
  %c = block.tile %Cb[0] valid(128, 128) : tile<128 x 128 x f32, acc, nz>
  pto.tload %m, %x[0, 0]
  pto.set_flag mte2 -> mte1 event(0)
  pto.wait_flag mte2 -> mte1 event(0)
  pto.tmov %l, %m
  pto.tmov %r, %m
  pto.set_flag mte1 -> m event(0)
  pto.wait_flag mte1 -> m event(0)
  pto.tmatmul %c, %l, %r
}
""")
if found["cube / m / busy"] - 1 != 518:
    wrong.append(f"tmatmul f16 128 x 128 x 128: {found['cube / m / busy'] - 1} cycles, published 518")
sys.exit("\n".join(wrong) if wrong else 0)
END
/usr/bin/python3 all.py
