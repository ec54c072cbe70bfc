# Plain words in comments, messages and pages: "is not a" and not "is no", "after" and not "behind", "returns" and not
# "gives", "needs" and not "wants", "except for" and not "but for", the name of a thing and not "who", space and not
# "room". Names in messages are in backticks. Comments of scripts and tables have at most 120 columns; those of C have
# them by clang-format.
set -u
PYTHONPATH=$(dirname "$0") /usr/bin/python3 -B - <<'END_OF_PYTHON'
import os, re, sys

from tree import tracked

C = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'", re.S)
HASH = re.compile(r"(?m)^\s*#[^\n]*")
SLASHES = re.compile(r"(?m)^\s*//(?! *(?:RUN|CHECK))[^\n]*")
BREAK = r"(?:\s+(?:\*|//|#)?\s*)"
WORDS = [
    (re.compile(rf"(?<!there )\bis{BREAK}no\b(?!{BREAK}(?:longer|more)\b)", re.I), "write `is not a`"),
    (re.compile(r"\bbehind\b", re.I), "write `after`, or what it belongs to"),
    (re.compile(r"\bgives\b", re.I), "write `returns`, `has`, `makes`"),
    (re.compile(r"(?<![$`\w])who(?:m|ever)?\b(?!`)", re.I), "name the pass, the caller, the user"),
    (re.compile(r"(?<![$`\w])rooms?\b(?!`)", re.I), "write `space` or `capacity`"),
    (re.compile(r"\bwants\b", re.I), "write `expects`, `needs` or `asks`"),
    (re.compile(rf"\bbut{BREAK}for\b", re.I), "write `except for` or `apart from`"),
]
QUOTES = re.compile(r"(?<![\w\\(])'(?:%[.*0-9]*s|[A-Za-z][\w.-]*)'(?!\w)")
NPY_HEADER = re.compile(r"'(?:descr|fortran_order|shape)'")  # is Python
TREES = ("ir/", "core/", "tools/", "plugins/", "sdk/")
bad = 0

def complain(name, text, at, what):
    global bad
    print(f"{name}:{text.count(chr(10), 0, at) + 1}: {what}")
    bad = 1

for name in tracked():
    ending = os.path.splitext(name)[1]
    is_c = ending in (".c", ".h", ".def")
    is_hash = ending in (".sh", ".yaml", ".py", ".cmake") or name == "dev" or os.path.basename(name) == "CMakeLists.txt"
    if name == "tests/style/words.sh" or name.startswith("docs/reference/") or not (is_c or is_hash or ending in (".md", ".ptir")):
        continue
    text = open(name, encoding="utf-8", errors="replace").read()
    prose = C if is_c else HASH if is_hash else SLASHES if ending == ".ptir" else re.compile(r".+", re.S)
    for part in prose.finditer(text):
        first = part.group()[:1]
        if first == "'" or first == '"' and not name.startswith(TREES):
            continue
        for pattern, instead in WORDS:
            for m in pattern.finditer(part.group()):
                complain(name, text, part.start() + m.start(), f"`{' '.join(m.group().split())}`: {instead}")
        if first == '"' and not NPY_HEADER.search(part.group()):
            for m in QUOTES.finditer(part.group()):
                complain(name, text, part.start() + m.start(), f"{m.group()}: names are quoted with backticks")
    if is_hash or ending == ".def":
        comment = re.compile(r"\s*(?:/\*|\*|//)" if ending == ".def" else r"\s*#(?!.*(?:RUN|CHECK)[-A-Z]*:)")
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > 120 and comment.match(line):
                print(f"{name}:{number}: a comment of {len(line)} columns, the limit is 120")
                bad = 1
sys.exit(bad)
END_OF_PYTHON
