# Sizes and offsets of every struct that crosses the boundary, and the number of every enumerator, are those of layout.txt: plugins
# that were built before depend on them. A change that is meant goes into layout.txt (the test says how); once the draft flag of
# <pto/abi.h> has fallen, only new fields at the end of a struct, and a new minor, may do so.
set -u
: "${TEST_ROOT:?is set by tests/run-golden, which runs this in a folder of its own}"
cat >layout.py <<'END'
import re, subprocess, sys

compiler, *folders = sys.argv[1:]
boundary = {"abi.h", "backend.h", "tiling.h", "decision.h", "note.h", "insn.h", "rules.def", "units.def"}


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
[ "$(grep -c '^struct' layout.txt)" -ge 20 ] && [ "$(grep -c '^ .*PTO_' layout.txt)" -ge 100 ] && grep -q '^     8  scratch$' layout.txt || { echo 'the headers were not understood:'; cat layout.txt; exit 1; }
diff -u "$TEST_ROOT/tests/plugins/abi/layout.txt" layout.txt && exit 0
echo "the layout of the plugin ABI changed. If that is meant: cp $TEST_TMP/layout.txt tests/plugins/abi/layout.txt"
exit 1
