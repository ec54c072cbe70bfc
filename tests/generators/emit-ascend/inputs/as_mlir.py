"""Text of the vendor's assembler as MLIR whose `pto` ops are in the generic form, which any mlir-opt reads: names, types
and dominance are checked, and the arithmetic around them."""

import re
import sys


def split(text):
    """At commas outside of `<>`, `[]` and `()`."""
    parts, depth, at = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<[(") - (c in ">])")
        if c == "," and depth == 0:
            parts.append(text[at:i].strip())
            at = i + 1
    return [p for p in [*parts, text[at:].strip()] if p]


def generic(line, pointers):
    space = line[: len(line) - len(line.lstrip())]
    m = re.match(r"\s*(?:(%\w+) = )?pto\.([\w.]+) ?(.*)$", line)
    if not m:
        return line
    result, op, rest = m.groups()
    operands, types, to = [], [], "()"
    if op in ("set_flag", "wait_flag", "barrier"):
        assert re.fullmatch(r"\[<PIPE_\w+>, <PIPE_\w+>, <EVENT_ID[0-7]>\]|<PIPE_\w+>", rest), line
    elif op in ("set_flag_dyn", "wait_flag_dyn"):
        operands, types = [re.fullmatch(r"\[#pto.pipe<PIPE_\w+>, #pto.pipe<PIPE_\w+>, (%\w+)\]", rest)[1]], ["index"]
    elif op == "get_block_idx":
        to = "i64"
    elif op == "alloc_tile":
        operands = list(re.match(r"(?:addr = (%\w+) )?valid_row = (%\w+) valid_col = (%\w+) : ", rest).groups())
        operands, types = operands[operands[0] is None :], ["i64", "index", "index"][operands[0] is None :]
        to = rest.split(" : ", 1)[1]
    elif op == "treshape":
        operands, types, to = re.fullmatch(r"(%\w+) : (.*) -> (.*)", rest).groups()
        operands, types = [operands], [types]
    elif op == "set_validshape":
        *operands, kind = re.fullmatch(r"(%\w+), (%\w+), (%\w+) : (.*)", rest).groups()
        types = [kind, "index", "index"]
    elif op in ("make_tensor_view", "partition_view"):
        source, lists = re.match(r"(%\w+), (.*\]) ?", rest).groups()
        indices = re.findall(r"%\w+", lists)
        tail = rest.split(" : ", 1)[1]
        operands = [source, *indices]
        types = [tail.split(" -> ")[0] if op == "partition_view" else pointers[source], *["index"] * len(indices)]
        to = tail.split(" -> ")[-1]
    else:
        takes, outs = re.match(r"ins\((.*)\) outs(.*)$", rest).groups()
        names, of = takes.split(" : ", 1)
        operands, types = split(re.sub(r"\{.*\}", "", names)), split(of)
        if outs.startswith(" : "):
            to = outs[3:]
        else:
            name, kind = re.sub(r" \{reluPreMode = #pto<\w+ \w+>\}$", "", outs)[1:-1].split(" : ", 1)
            operands.append(name)
            types.append(kind)
    assert len(operands) == len(types), line
    return f'{space}{result + " = " if result else ""}"pto.{op}"({", ".join(operands)}) : ({", ".join(types)}) -> {to}'


pointers = {}
for line in sys.stdin.read().splitlines():
    if "func.func" in line:
        pointers = dict(re.findall(r"(%\w+): (!pto\.ptr<\w+>)", line))
        line = re.sub(r" attributes \{.*\} \{$", " {", line)
    if line.startswith("module"):
        line = "module {"
    print(generic(line, pointers))
