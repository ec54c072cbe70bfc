# The examples of ops that the reference pages show, as one function on pto.reference. Every op has one; `;` ends lines.
. "$TEST_ROOT/tests/shell.sh"
pto-inspect ops --format=markdown >ops.md || fail 'pto-inspect ops'
/usr/bin/python3 - <<'END' >lacks || fail 'the page cannot be read'
import re
text = open("ops.md").read()
parameters, body, results, types, lacks = [], [], [], [], []
for n, (op, rest) in enumerate(re.findall(r"### `(tensor\.\w+)`\n(.*?)(?=\n### |\Z)", text, re.S)):
    example = re.search(r"^- example: (.*)$", rest, re.M)
    if example is None:
        lacks.append(op)
        continue
    mine = re.sub(r"%(\w+)", rf"%\1_{n}", example[1]).replace("$N", f"$N{n}")
    given, *lines = mine.split("; ")
    [line] = [l for l in lines if f" = {op} " in l]
    parameters += [given] if given.strip(";") else []
    body += ["  " + l for l in lines]
    results.append(line.split(" = ")[0])
    types.append(mine.rsplit(" : ", 1)[1])
print(" ".join(lacks))
open("all.ptir", "w").write(f"func @f({', '.join(parameters)}) -> ({', '.join(types)}) {{\n" + "\n".join(body) + f"\n  return {', '.join(results)}\n}}\n")
END
[ -z "$(cat lacks)" ] || fail "without an example: $(cat lacks)"
[ "$(grep -c ' = tensor\.' all.ptir)" -ge 90 ] || fail "$(grep -c ' = tensor' all.ptir) examples"
symbols=$(grep -o '\$N[0-9]*' all.ptir | sort -u | sed 's/^.\(.*\)/--sym \1=5/')
pto-run all.ptir --backend=pto.reference --random-inputs=1 $symbols >out 2>text || fail "$(cat text)"
