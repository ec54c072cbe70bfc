# What comments cite exists: a name of a header, a table, a page or a script is a file of the tree, and a tag in
# brackets in a machine file is a row of docs/sources.md. Names with a placeholder, of system headers and of files that
# a test makes are not citations.
set -u
PYTHONPATH=$(dirname "$0") /usr/bin/python3 -B - <<'END'
import os, re, sys

from tree import tracked

FILES = tracked()
BASES = {os.path.basename(f) for f in FILES}
COMMENT = {
    ".c": r"/\*.*?\*/|//[^\n]*", ".h": r"/\*.*?\*/|//[^\n]*", ".def": r"/\*.*?\*/",
    ".yaml": r"(?m)(?:^|\s)#[^\n]*", ".py": r"(?m)(?:^|\s)#[^\n]*", ".sh": r"(?m)(?:^|\s)#[^\n]*", ".cmake": r"(?m)#[^\n]*", ".txt": r"(?m)^#[^\n]*",
}
CITED = re.compile(r"(?<![\w./*<-])((?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_-]+\.(?:h|c|md|def|hpp|py|sh))\b(?!\()")
SYSTEM = {"unistd.h", "stdint.h", "stdio.h", "string.h"}
bad = 0
for name in FILES:
    ending = os.path.splitext(name)[1]
    if ending not in COMMENT or name.startswith("tests/"):
        continue
    text = open(name, encoding="utf-8", errors="replace").read()
    for comment in re.finditer(COMMENT[ending], text, re.S):
        for cited in CITED.finditer(comment.group()):
            word = cited.group(1)
            if word in FILES or os.path.basename(word) in BASES or os.path.basename(word) in SYSTEM:
                continue
            line = text.count("\n", 0, comment.start() + cited.start()) + 1
            print(f"{name}:{line}: cites `{word}`, which is not a file of the tree: name a public source in docs/sources.md")
            bad = 1

page = open("docs/sources.md", encoding="utf-8").read() if os.path.isfile("docs/sources.md") else ""
tags = set(re.findall(r"^\| \[([a-z]+)\]", page, re.M))
for name in FILES:
    if not name.startswith("pipelines/machines/") or not name.endswith(".yaml"):
        continue
    for number, line in enumerate(open(name, encoding="utf-8"), 1):
        comment = re.search(r"(?:^|\s)#(.*)", line)
        for tag in re.findall(r"\[([A-Za-z][^]]*)\]", comment.group(1)) if comment else []:
            if tag not in tags:
                print(f"{name}:{number}: [{tag}] is not a row of docs/sources.md")
                bad = 1
sys.exit(bad)
END
