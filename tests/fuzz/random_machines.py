"""Machines that are not those that ship: random legal changes of a machine file.

`draw(r)` makes the text of one and says what was changed. Numbers of cores, sizes, alignments, granules and costs are others; element
types, conversions, paths, layouts of paths and rows of instructions are taken away, and types are added. The file's own check accepts each
one; what a machine then cannot do, the compiler says."""
import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BASES = ("pipelines/machines/ascend-910b", "pipelines/machines/cpu-generic", "tests/machines/inputs/gpu-like")
VECTOR_TYPES = ("f32", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
CHANGES = []


def change(function):
    """Registers function(r, text): the changed text and what was changed, or None where the machine has nothing of the kind."""
    CHANGES.append(function)
    return function


def base(name):
    with open(os.path.join(ROOT, name + ".yaml"), encoding="utf-8") as f:
        return re.sub(r"(?m)[ \t]+#.*$|^#.*\n", "", f.read())


def draw(r):
    """(text, [what]): a machine of one to six changes."""
    name = r.choices(BASES, (6, 2, 1))[0]
    text, made = base(name), [name]
    for function in r.choices(CHANGES, k=r.choice((1, 2, 3, 4, 6))):
        changed = function(r, text)
        if changed is not None:
            text = changed[0]
            made.append(changed[1])
    return text, made


# ---- parts of the text ----

def matches(pattern, text):
    return list(re.finditer(pattern, text, re.M))


def section(text, name):
    """Where what is below the key at the top begins and ends."""
    return re.search(rf"(?m)^{name}:(.*\n(?: .*\n)*)", text).span(1)


def within(text, name, pattern):
    begin, end = section(text, name)
    return [m for m in matches(pattern, text) if begin <= m.start() < end]


def put(text, m, group, new):
    """The text with the group of the match replaced, and what that is in words."""
    old, new = m[group].strip(), str(new)
    line = text[text.rfind("\n", 0, m.start()) + 1:m.end()].strip()
    what = f"without `{old[:60]}`" if not new else f"{line[:60]}: {old} is {new}" if old else f"{line[:60]}{new}"
    return text[:m.start(group)] + new + text[m.end(group):], what


def one(r, text, name, pattern, new):
    """Replaces the first group of one match below `name` by new(what it is)."""
    found = within(text, name, pattern)
    if not found:
        return None
    m = r.choice(found)
    made = new(m[1])
    return None if made is None else put(text, m, 1, made)


def bytes_of(words):
    m = re.fullmatch(r"(\d+)([KMG]iB)?", words)
    return int(m[1]) * {None: 1, "KiB": 1024, "MiB": 2**20, "GiB": 2**30}[m[2]]


def fewer(r, words):
    """A list without one of its items."""
    items = words.split(", ")
    if len(items) < 2:
        return None
    items.remove(r.choice(items))
    return ", ".join(items)


def more(r, words):
    items = words.split(", ") if words else []
    left = [t for t in VECTOR_TYPES if t not in items]
    return ", ".join([*items, r.choice(left)]) if left else None


# ---- cores and memories ----

@change
def cores(r, text):
    return one(r, text, "cores", r"count: (\d+)", lambda n: r.choice((1, 2, 3, 7, 20, 64, 1000)))


@change
def sizes(r, text):
    """A space on the chip keeps at least twice what it reserves."""
    found = within(text, "spaces", r"core: \w+, bytes: (\w+)(?:, reserved: (\w+))?")
    if not found:
        return None
    m = r.choice(found)
    least = max(1024, 2 * bytes_of(m[2] or "0"))
    return put(text, m, 1, max(least, int(bytes_of(m[1]) * r.choice((0.125, 0.25, 0.5, 0.75, 2, 8)))))


@change
def alignments(r, text):
    return one(r, text, "spaces", r"align: (\d+)", lambda n: r.choice((16, 32, 64, 128, 256, 512)))


@change
def aliases(r, text):
    """Two spaces of the same core kind that share their bytes."""
    return one(r, text, "spaces", r"^  (?:left|bias): \{ core: \w+, bytes: \w+(), (?!alias)", lambda n: ", alias: " + r.choice(("mat", "right", "scaling")))


# ---- paths ----

@change
def bandwidths(r, text):
    return one(r, text, "paths", r"bytes-per-cycle: ([\d.]+)", lambda n: r.choice((0.5, 1, 13.7, 64, 4096)))


@change
def latencies(r, text):
    return one(r, text, "paths", r"latency: (\d+)", lambda n: r.choice((0, 1, 17, 3000)))


@change
def without_a_path(r, text):
    """Without one of those between `gm` and `vec` nearly everything is refused."""
    return one(r, text, "paths", r"^(  - .*\n)", lambda n: None if re.search("gm.*vec|vec.*gm", n) and r.random() < 0.9 else "")


@change
def layouts_of_paths(r, text):
    return one(r, text, "paths", r"layouts: \[(.*?)\]", lambda n: fewer(r, n))


@change
def casts_of_paths(r, text):
    return one(r, text, "paths", r"casts: \[(.*?)\]", lambda n: fewer(r, n) or n + ", f32-f32")


@change
def shared_bandwidth(r, text):
    return one(r, text, "shared", r"gm-bytes-per-cycle: (\d+)", lambda n: r.choice((0, 1, 100)))


# ---- units ----

@change
def granules(r, text):
    return one(r, text, "vector", r"repeat-bytes: (\d+)", lambda n: r.choice((32, 64, 128, 512, 1024)))


@change
def blocks(r, text):
    return one(r, text, "vector", r"block-bytes: (\d+)", lambda n: r.choice((8, 16, 64, 128)))


@change
def scratch(r, text):
    return one(r, text, "vector", r"tmp: (\w+)", lambda n: "false" if n == "true" else "true")


@change
def without_a_vector_type(r, text):
    return one(r, text, "vector", r"^  dtypes: \[(.*?)\]", lambda n: fewer(r, n))


@change
def another_vector_type(r, text):
    return one(r, text, "vector", r"^  dtypes: \[(.*?)\]", lambda n: more(r, n))


@change
def without_a_conversion(r, text):
    return one(r, text, "vector", r"^    \w+: \[(.*?)\]", lambda n: fewer(r, n))


@change
def without_conversions_of_a_type(r, text):
    return one(r, text, "vector", r"^(    \w+: \[.*\n)", lambda n: "")


@change
def another_conversion(r, text):
    return one(r, text, "vector", r"^    \w+: \[(.*?)\]", lambda n: more(r, n))


@change
def products(r, text):
    return one(r, text, "matrix", r"^  (?:head|dim-max): (\d+)", lambda n: r.choice((16, 64, 100, 256, 65535)))


@change
def boxes(r, text):
    return one(r, text, "matrix", r"box-(?:rows|row-bytes|cols): (\d+)", lambda n: r.choice((8, 16, 32, 64)))


@change
def types_of_products(r, text):
    def changed(words):
        added = r.choice(("f8e4m3", "u8", "i16"))
        return fewer(r, words) if r.random() < 0.7 or added in words else f"{words}, {added}: 2"

    return one(r, text, "matrix", r"cycles-per-box: \{ (.*?) \}", changed)


@change
def relu_of_stores(r, text):
    return one(r, text, "matrix", r"^(  store-relu: true\n)", lambda n: "")


# ---- instructions ----

@change
def costs(r, text):
    return one(r, text, "instructions", r"(?:head|per-repeat|per-row|tail): (\d+)", lambda n: r.choice((0, 1, 5, 100, 2000)))


@change
def types_of_an_instruction(r, text):
    return one(r, text, "instructions", r"dtypes: \[(.*?)\]", lambda n: fewer(r, n))


@change
def more_types_of_an_instruction(r, text):
    return one(r, text, "instructions", r"dtypes: \[(.*?)\]", lambda n: more(r, n))


@change
def own_types_of_an_instruction(r, text):
    """An instruction of all types of the unit becomes one of few, or of none."""
    return one(r, text, "instructions", r"^  (?!default)\w+: \{(?!.*dtypes).*?()\s*\}", lambda n: f", dtypes: [{r.choice(('', 'f32', 'f32, i32', 'f16, i16'))}]")


@change
def row_of_an_instruction(r, text):
    """The class then costs, and takes, what the default does."""
    return one(r, text, "instructions", r"^(  (?!default)\w+: .*\n)", lambda n: "")


# ---- order and start ----

@change
def events(r, text):
    return one(r, text, "sync", r"event-ids: (\d+)", lambda n: r.choice((1, 2, 3, 64)))


@change
def cycles(r, text):
    name = r.choice(("sync", "dispatch"))
    return one(r, text, name, r"cycles: (\d+)", lambda n: r.choice((0, 1, 50, 9000)))
