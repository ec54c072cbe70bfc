"""failures.py PLUGINS SHARE: reduces every SHARE-th recorded failure and checks that the result is at least ten times smaller and still
fails. A failure is a program of about a hundred ops from a seed, with a planted fault, and how the fault shows."""
import random, subprocess, sys

PLUGINS, SHARE = sys.argv[1], int(sys.argv[2])
R = "tensor<$N x 64 x f32>"
UNARY = ["neg", "abs", "exp", "sqrt", "relu"]
BINARY = ["add", "mul", "maximum", "minimum"]
PARAMETERS = {"%a": R, "%b": R, "%i": "tensor<$N x 64 x i32>", "%l": "tensor<$N x 64 x i64>", "%u": "tensor<8 x u64>", "%s": "tensor<16 x 16 x i8>", "%m": "tensor<512 x 256 x f32>", "%o": "tensor<4 x 100003 x f32>", "%h": "tensor<1 x 1 x 1 x 1 x 1 x 1 x 1 x 8 x u64>", "%n": "index"}


def ops(random, count, names, values):
    """Lines of elementwise ops, each on earlier values."""
    lines = []
    for _ in range(count):
        name = f"%{names}{len(values)}"
        if random.random() < 0.2:
            m = f"%r{len(values)}"
            lines.append(f"{m} = tensor.reduce_max {random.choice(values)} {{axis = 1}} : tensor<$N x 1 x f32>")
            lines.append(f"{name} = tensor.sub {random.choice(values)}, {m} : {R}")
        elif random.random() < 0.5:
            lines.append(f"{name} = tensor.{random.choice(UNARY)} {random.choice(values)} : {R}")
        else:
            lines.append(f"{name} = tensor.{random.choice(BINARY)} {random.choice(values)}, {random.choice(values)} : {R}")
        values.append(name)
    return lines


def program(seed, plant, result=None, callee="", where=""):
    """`plant`: lines in the middle, of which the one named `result` = (name, type) is returned too."""
    r = random.Random(seed)
    text = callee
    for g in range(2):
        values = ["%x"]
        body = ops(r, 5, "g", values)
        text += f"func private @g{g}(%x: {R}) -> {R} {{\n" + "".join(f"  {line}\n" for line in body) + f"  return {values[-1]}\n}}\n"
    values = ["%a", "%b"]
    body = ops(r, 34, "v", values)
    body += [f"%c{g} = call @g{g}({r.choice(values)}) : {R}" for g in range(2)] + plant
    values += ["%c0", "%c1"]
    body += ops(r, 24, "w", values)
    returned = [(v, R) for v in r.sample(values[2:], 3)] + ([result] if result else [])
    # The large ones take longer to fill than all else takes: they are there where they are read.
    read = "".join(plant)
    parameters = ", ".join(f"{n}: {t}" for n, t in PARAMETERS.items() if n not in ("%m", "%o") or n in read)
    text += f"func @f({parameters}) -> ({', '.join(t for _, t in returned)}){where} {{\n"
    text += "".join(f"  {line}\n" for line in body) + f"  return {', '.join(v for v, _ in returned)}\n}}\n"
    return text


I32, DEFAULT = "tensor<$N x 64 x i32>", "--pipeline=default.yaml"
MISCOMPILES = f"--plugin={PLUGINS}/hostile-miscompiles.so"


def miscompiled(plant):
    """Two pipelines whose outputs differ: status 1. The symbol may be gone."""
    insert = f"'--insert-after=tile=test.hostile-miscompiles-tile{{plant={plant}}}'"
    return ["--test", f"grep -q '[$]N' {{}} && n=--sym=N=2; pto-run {{}} --entry=f {DEFAULT} {MISCOMPILES} {insert} --compare=default.yaml --random-inputs=1 $n; test $? -eq 1"]


EIGHT = "tensor<1 x 1 x 1 x 1 x 1 x 1 x 1 x 8 x u64>"  # no dim is left for planes of 32 bits


FAILURES = {
    "sum-of-8-dims": (program(1, [f"%p = tensor.add %h, %h : {EIGHT}"], ("%p", EIGHT)), [DEFAULT, "--code=pto.legalize-types/no-exact-way"]),
    "sum-of-8-dims-in-a-loop": (program(2, ["%p = for %k to %n carry(%q = %h) {", f"  %t = tensor.add %q, %h : {EIGHT}", "  yield %t", f"}} : {EIGHT}"], ("%p", EIGHT)),
                                [DEFAULT, "--code=pto.legalize-types/no-exact-way"]),
    "u64-cast": (program(3, ["%p = tensor.cast %h : tensor<1 x 1 x 1 x 1 x 1 x 1 x 1 x 8 x u16>"], ("%p", "tensor<1 x 1 x 1 x 1 x 1 x 1 x 1 x 8 x u16>")), [DEFAULT, "--code=pto.legalize-types/no-conversion"]),
    "i64-product": (program(4, ["%p = tensor.matmul %s, %s {out = i64} : tensor<16 x 16 x i64>"], ("%p", "tensor<16 x 16 x i64>")), [DEFAULT, "--code=pto.legalize-types/no-product"]),
    "wide-scalar": (program(5, ["%z = scalar_of %l[0, 0] : i64", "%p = tensor.full %z : tensor<1 x 1 x 1 x 1 x 1 x 1 x 1 x 4 x i64>"],
                            ("%p", "tensor<1 x 1 x 1 x 1 x 1 x 1 x 1 x 4 x i64>")), [DEFAULT, "--code=pto.select/no-instruction"]),
    "dependent-iterations": (program(6, [f"%p = for %k parallel to %n carry(%q = %b) {{", f"  %t = tensor.exp %q : {R}", "  yield %t", f"}} : {R}"], ("%p", R)), ["--code=E0335"]),
    "fact-in-a-loop": (program(7, [f"%p = for %k to %n carry(%q = %b) {{", f"  %t = call @h(%q) : {R}", "  yield %t", f"}} : {R}"], ("%p", R),
                               f"func private @h(%x: {R}) -> {R} where ($N mod 16 == 0) {{\n  %y = tensor.neg %x : {R}\n  return %y\n}}\n"), [DEFAULT, "--code=pto.inline/fact"]),
    "broadcast": (program(8, [f"%e = tensor.reshape %u : tensor<8 x u64>", f"%k = tensor.constant {{value = 1.0}} : tensor<65 x f32>", f"%p = tensor.add %a, %k : {R}"], ("%p", R)), ["--code=E0213"]),
    "result-type": (program(9, ["%p = tensor.reduce_sum %a {axis = 1} : tensor<$N x f32>"], ("%p", "tensor<$N x f32>")), ["--code=E0214"]),
    "exp-of-integers": (program(10, [f"%p = tensor.exp %i : {I32}"], ("%p", I32)), ["--code=E0211"]),
    "no-axis": (program(11, ["%p = tensor.reduce_sum %a : tensor<$N x 1 x f32>"], ("%p", "tensor<$N x 1 x f32>")), ["--code=E0312"]),
    "undefined-value": (program(12, [f"%p = tensor.neg %nowhere : {R}"], ("%p", R)), ["--code=E0110"]),
    "unknown-op": (program(13, [f"%p = tensor.negate %a : {R}"], ("%p", R)), ["--code=E0109"]),
    "reshape": (program(14, ["%p = tensor.reshape %a : tensor<65 * $N x f32>"], ("%p", "tensor<65 * $N x f32>")), ["--code=E0217"]),
    "call-argument": (program(15, ["%p = call @g0(%u) : tensor<8 x u64>"], ("%p", "tensor<8 x u64>")), ["--code=E0323"]),
    "circle": (program(16, [f"%p = call @h(%a) : {R}"], ("%p", R), f"func private @h(%x: {R}) -> {R} {{\n  %y = call @h(%x) : {R}\n  return %y\n}}\n"), ["--code=E0324"]),
    "rows-that-do-not-fit": (program(17, ["%p = tensor.softmax %m : tensor<512 x 256 x f32>"], ("%p", "tensor<512 x 256 x f32>")),
                             [DEFAULT, "--set=tile.with.strategy={use: pto.tiling-manual, with: {rows: 64}}", "--code=E1331"]),
    "division-by-zero": (program(18, [f"%z = tensor.constant {{value = 0}} : {I32}", f"%p = tensor.div %i, %z : {I32}"], ("%p", I32)),
                         ["--test", "pto-run {} --backend=pto.reference --entry=f --random-inputs=1 --sym N=2 2>&1 | grep -q pto.reference/division-by-zero"]),
    "swapped-differences": (program(19, [f"%p = tensor.sub %a, %b : {R}"], ("%p", R)), miscompiled("swaps-sub")),
    "left-out-exponentials": (program(20, [f"%p = tensor.exp %a : {R}"], ("%p", R)), miscompiled("drops-exp")),
}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def lines(text):
    """Ops, with the heads of functions: what is not a bracket alone."""
    return sum(1 for line in text.splitlines() if line.strip() not in ("", "}"))


bad = 0
for name, (text, how) in list(FAILURES.items())[::SHARE]:
    open(f"{name}.ptir", "w").write(text)
    # Fewer trials than by default: extents become smaller in thousands of them, which lines do not show.
    ran = run("pto-reduce", f"{name}.ptir", "-o", f"{name}-small.ptir", "--tests=400", *how)
    if ran.returncode != 0:
        bad += 1
        print(f"{name}: status {ran.returncode}\n{ran.stderr}")
        continue
    small = open(f"{name}-small.ptir").read()
    before, after = lines(text), lines(small)
    again = run("pto-reduce", f"{name}-small.ptir", "--tests=1", "-o", "/dev/null", *how)
    if before < 10 * after or again.returncode != 0:
        bad += 1
        print(f"{name}: {before} lines became {after}, and fails again with status {again.returncode}\n{ran.stderr}{small}")
    else:
        print(f"{name}: {before} lines became {after}")
print(f"{len(FAILURES)} failures, {bad} wrong")
sys.exit(bad != 0 or len(FAILURES) < 20)
