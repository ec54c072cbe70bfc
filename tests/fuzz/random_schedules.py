"""Schedules as the tools write them, one key a line, and random legal pins of what a search space lists."""
import re

# All that is pinned must fit somewhere; larger values say nothing new.
LARGEST = 300


def entries(text):
    """The decisions of a schedule or search space; `offers` as a list."""
    out = []
    for line in text.splitlines():
        started = re.match(r"  - (at: .*)", line)
        if started:
            out.append({"offers": []})
        offer = re.match(r"      - value: (.*)", line)
        if offer:
            out[-1]["offers"].append(offer[1])
        key = re.match(r"    (\w+): (.*)", "    " + started[1] if started else line)
        if key and out:
            out[-1][key[1]] = key[2]
    return out


def numbers(text):
    return [int(n) for n in re.findall(r"-?\d+", re.sub(r"[\w.-]+:", "", text))]


def random_value(r, entry):
    """One that the search space says to be legal."""
    if "words" in entry:
        return r.choice(re.findall(r'"[^"]*"|[^][, ]+', entry["words"]))
    if entry["offers"] and r.random() < 0.8:
        return r.choice(entry["offers"])
    if not ("least" in entry and "most" in entry):
        return entry["chosen"]
    values = []
    for lo, hi in zip(numbers(entry["least"]), numbers(entry["most"])):
        hi = min(hi, max(lo, LARGEST))
        values.append(r.choice((lo, hi, r.randint(lo, hi), r.randint(lo, min(hi, lo + 7)))))
    keys = re.findall(r"([\w.-]+):", entry["least"])
    return "{ " + ", ".join(f"{k}: {v}" for k, v in zip(keys, values)) + " }" if keys else str(values[0])


def schedule(decisions):
    """The text that pins (at, decide, value), and the lines where each begins."""
    lines, begins = ["pto-schedule: 1", "decisions:" if decisions else "decisions: []"], []
    for at, decide, value in decisions:
        begins.append(len(lines) + 1)
        lines += [f"  - at: {at}", f"    decide: {decide}", f"    value: {value}", "    pinned: true"]
    return "\n".join(lines) + "\n", begins


def draw(r, space):
    """[(at, decide, value)]: of the entries of a search space some at random values."""
    some = r.choice((0.1, 0.3, 0.6, 1.0))
    return [(e["at"], e["decide"], random_value(r, e)) for e in space if r.random() < some]


def is_at_a_pin(err, file, begins):
    """Whether an error or a note of what was refused is at the lines of a pin, of which `begins` are the first."""
    at = [int(n) for n in re.findall(re.escape(file) + r":(\d+):\d+: (?:error|note): ", err)]
    return any(b <= line < b + 4 for line in at for b in begins)
