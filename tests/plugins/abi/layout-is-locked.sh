# Sizes and offsets of every struct that crosses the boundary, and the number of every enumerator, are those of
# layout.txt: plugins that were built before depend on them. A change that is meant goes into layout.txt (the test says
# how); once the draft flag of <pto/abi.h> has fallen, only new fields at the end of a struct, and a new minor, may do
# so.
set -u
: "${TEST_ROOT:?is set by tests/run-golden, which runs this in a folder of its own}"
cat >layout.py <<'END'
import re, subprocess, sys

compiler, *folders = sys.argv[1:]
boundary = {"abi.h", "host.def", "backend.h", "generator.h", "reader.h", "tiling.h", "decision.h", "note.h", "opset.h", "insn.h", "rules.def", "units.def", "types.def", "kinds.def",
            "options.def"}
tables = {"pto_host", "pto_tiling_host", "pto_schedule_host"}  # of functions: each takes 8 bytes after two numbers


def preprocessed():
    """The text of the headers that describe the boundary, macros expanded."""
    out = subprocess.run([compiler, "-E", *(f"-I{f}" for f in folders), "-x", "c", "-"], input="#include <pto/plugin.h>\n", capture_output=True, text=True, check=True).stdout
    kept, file = [], ""
    for line in out.splitlines():
        if m := re.match(r'# \d+ "([^"]*)"', line):
            file = m[1]
        elif "/pto/" in file and file.rsplit("/", 1)[1] in boundary:
            kept.append(line)
    return "\n".join(kept)


def fields(body):
    for declaration in filter(None, (d.strip() for d in body.split(";"))):
        if m := re.search(r"\(\*\s*(\w+)\)\s*\(", declaration):
            yield m[1]
            continue
        for part in declaration.split(","):
            yield re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", part.strip())[1]


text = preprocessed()
lines = []
for m in re.finditer(r"\bstruct (pto_\w+)\s*\{([^{}]*)\}", text):
    if m[1] in tables:
        names = list(fields(m[2]))
        lines.append(f'printf("table {m[1]}\\n");')
        lines += [f'printf("        %s\\n", offsetof(struct {m[1]}, {f}) == {8 * i + 8} ? "{f}" : "{f} is not at {8 * i + 8}");' for i, f in enumerate(names[2:])]
        continue
    lines.append(f'printf("struct %s, %zu bytes\\n", "{m[1]}", sizeof(struct {m[1]}));')
    for f in fields(m[2]):
        lines.append(f'printf("  %4zu  {f}\\n", offsetof(struct {m[1]}, {f}));')
for m in re.finditer(r"\benum\s*\{([^{}]*)\}", text):
    names = [e.strip().split("=")[0].strip() for e in m[1].split(",") if e.strip()]
    lines += ['printf("enum\\n");'] + [f'printf("  %4lld  {n}\\n", (long long){n});' for n in names if n.startswith("PTO_")]
with open("layout.c", "w") as out:
    out.write("#include <pto/plugin.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
END
/usr/bin/python3 layout.py "${CC:-cc}" "$TEST_ROOT/sdk/include" "$TEST_BUILD/include" &&
  "${CC:-cc}" -w -I "$TEST_ROOT/sdk/include" -I "$TEST_BUILD/include" layout.c -o layout && ./layout >layout.txt || exit 1
[ "$(grep -c '^struct' layout.txt)" -ge 20 ] && [ "$(grep -c '^ .*PTO_' layout.txt)" -ge 100 ] && grep -q '^        scratch$' layout.txt || { echo 'the headers were not understood:'; cat layout.txt; exit 1; }

# New rows of <pto/host.def> need no word here: in a draft they may be anywhere, later at the end of their table. The
# functions that are locked keep their order.
cat >without_new.py <<'END'
import re, sys

locked, made = ([line.rstrip("\n") for line in open(f)] for f in sys.argv[1:3])
is_draft = sys.argv[3] == "1"


def tables(lines):
    name, out = "", {}
    for line in lines:
        if not line.startswith("        "):
            name = line
        elif name.startswith("table"):
            out.setdefault(name, []).append(line)
    return out


old, new = tables(locked), tables(made)
for name, functions in new.items():
    known = old.get(name, [])
    kept = [f for f in functions if f in known] if is_draft else functions[: len(known)]
    made = made[: made.index(name) + 1] + kept + made[made.index(name) + 1 + len(functions) :]
print("\n".join(made))
END
draft=$(echo 'PTO_ABI_DRAFT' | "${CC:-cc}" -E -P -I "$TEST_ROOT/sdk/include" -I "$TEST_BUILD/include" -include pto/abi.h -x c - | tail -n 1)
lock=$TEST_ROOT/tests/plugins/abi/layout.txt
/usr/bin/python3 without_new.py "$lock" layout.txt "$draft" >known.txt && diff -u "$lock" known.txt && exit 0
echo "the layout of the plugin ABI changed. If that is meant: cp $TEST_TMP/layout.txt tests/plugins/abi/layout.txt"
exit 1
