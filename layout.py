import re, subprocess, sys

compiler, include = sys.argv[1:3]
boundary = {"abi.h", "backend.h", "tiling.h", "note.h", "insn.h"}


def preprocessed():
    """The text of the headers that describe the boundary, macros expanded."""
    out = subprocess.run([compiler, "-E", "-I", include, "-x", "c", "-"], input="#include <pto/plugin.h>\n", capture_output=True, text=True, check=True).stdout
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
