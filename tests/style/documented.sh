# A header says what each of its functions does: a comment ends right above the declaration, or above the first of a
# group without an empty line between; or one ends the declaration's line. A heading, /* ---- x ---- */, is not such a
# comment. The body of an inline function may be apart from its declaration, which then has the comment. In headers of
# the SDK every struct has one, too. Run from the root of the tree.
set -u
PYTHONPATH=$(dirname "$0") /usr/bin/python3 -B - <<'END'
import re, sys

from tree import tracked

TREES = ("ir/", "core/", "tools/", "plugins/", "sdk/include/")
HEADING = re.compile(r"/\* ---- .* ---- \*/$")
FUNCTION = re.compile(r"(?!typedef\b)(?:\w[\w\s]*[\s*])(\w+)\s*\(")
STRUCT = re.compile(r"typedef struct (\w+) \{")
MACRO_CALL = re.compile(r"[A-Z_0-9]+\(.*\);?$")  # PTO_PRINTF_LIKE(2, 3), PTO_KINDS(KINDS);


def declarations(text):
    """Line number, text and whether a comment is above it, of everything at file scope."""
    lines = text.split("\n")
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    code = [l.rstrip() for l in re.sub(r"/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'", blank, text, flags=re.S).split("\n")]
    i, is_said = 0, False
    while i < len(lines):
        line = lines[i].strip()
        if line.startswith("/*"):
            first = i
            while "*/" not in lines[i]:
                i += 1
            is_said = i > first or not HEADING.match(line)
        elif not line:
            is_said = False
        elif line.startswith("#"):
            while lines[i].endswith("\\"):
                i += 1
        elif line not in ('extern "C" {', "}") and not MACRO_CALL.match(line):
            first, depth = i, code[i].count("{") - code[i].count("}")
            while i + 1 < len(lines) and (depth != 0 or not code[i].endswith((";", "}"))):
                i += 1
                depth += code[i].count("{") - code[i].count("}")
            yield first + 1, " ".join(code[first : i + 1]), is_said or lines[i].rstrip().endswith("*/")
        i += 1


headers = [f for f in tracked() if f.endswith(".h") and f.startswith(TREES)]
said, unsaid = set(), []
for name in headers:
    for line, text, is_said in declarations(open(name, encoding="utf-8").read()):
        found = FUNCTION.match(text.split("{")[0]) or (STRUCT.match(text) if name.startswith("sdk/") else None)
        if found and is_said:
            said.add(found[1])
        elif found:
            unsaid.append((name, line, found[1], "{" in text))
bad = 0
for name, line, function, has_body in unsaid:
    if has_body and function in said:
        continue
    print(f"{name}:{line}: `{function}` has no comment above it: meaning, and where it is not plain units, lifetime, errors, thread")
    bad = 1
if not headers:
    print("there are no headers: is the pattern right?")
sys.exit(bad or not headers)
END
