"""Random values of what a pipeline leaves open: the options of its passes, of the strategy, the cost model and the backend that it uses,
and its parameters, each within what its descriptor says."""
import json
import re
import subprocess

LARGEST = 2**22  # where an option has no limit
# The simulator's tests of itself; and plugins, which are drawn apart.
LEFT_OUT = {("pto.cpu-sim", "data"), ("pto.cpu-sim", "drop-wait"), ("pto.cpu-sim", "drop-set"), ("pto.tile", "strategy"), ("pto.tiling-heuristic", "cost")}
STRATEGIES = {"pto.tiling-heuristic": 0.6, "pto.tiling-manual": 0.4}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def bytes_of(words):
    m = re.fullmatch(r"(\d+)([KMG]iB)?", words)
    return int(m[1]) * {None: 1, "KiB": 1024, "MiB": 2**20, "GiB": 2**30}[m[2]]


def value(r, words):
    """A value of an option, of the words that describe it; None: a kind that is not drawn."""
    if words.startswith("bool"):
        return r.choice(("true", "false"))
    m = re.match(r"enum of (.*?), default", words)
    if m:
        return r.choice(m[1].split(", "))
    if words.startswith("number, 0 to inf"):
        return r.choice(("0", "0.5", "1", "4", "1000"))
    m = re.match(r"(integer|bytes), (\w+) to (\w+)", words)
    if not m:
        return None
    least, most = bytes_of(m[2]), LARGEST if m[3] == "inf" else min(bytes_of(m[3]), LARGEST)
    return str(r.choice((least, most, min(most, least + r.randrange(9)), round(least + (most - least) ** r.random()))))


class Options:
    """Of one pipeline, as the tools of a folder know it."""

    def __init__(self, opt, inspect, pipeline):
        text = run(opt, f"--pipeline={pipeline}", "--print-pipeline")
        described = {o["name"]: o for o in json.loads(run(inspect, "options", "--format=json"))}
        self.of = {name: [(key.split(" ", 1)[1], words) for key, words in o.items() if key.startswith("option ") and (name, key.split(" ", 1)[1]) not in LEFT_OUT]
                   for name, o in described.items()}
        steps = re.findall(r"  - pass: (\S+).*\n    id: (\S+)", text)
        self.options = [(f"{step}.with.{option}", words) for name, step in steps for option, words in self.of.get(name, [])]
        backend = re.search(r"(?m)^backend:\n(?:  .*\n)*?  use: (\S+)", text)[1]
        self.options += [(f"backend.with.{option}", words) for option, words in self.of.get(backend, [])]
        params = re.findall(r"(?m)^  ([\w-]+):(?:  #.*)?\n    type: (\w+)\n    default: (\S+).*\n(?:    min: (\S+)\n    max: (\S+)\n)?", text)
        self.options += [(f"params.{name}", f"{kind}, {least} to {most}" if least else kind) for name, kind, _, least, most in params]
        self.costs = sorted(o["name"] for o in json.loads(run(inspect, "costs", "--format=json")))

    def with_values(self, r, name):
        """The options of a plugin as YAML."""
        some = [(option, value(r, words)) for option, words in self.of.get(name, []) if r.random() < 0.5]
        return [f"{option}: {v}" for option, v in some if v is not None]

    def strategy(self, r):
        name = r.choices(list(STRATEGIES), list(STRATEGIES.values()))[0]
        given = self.with_values(r, name)
        if name == "pto.tiling-heuristic" and r.random() < 0.7:
            cost = r.choice(self.costs)
            given.append(f"cost: {{use: {cost}, with: {{{', '.join(self.with_values(r, cost))}}}}}")
        return f"tile.with.strategy={{use: {name}, with: {{{', '.join(given)}}}}}"

    def draw(self, r):
        """Arguments --set for a few of them."""
        some = [(key, value(r, words)) for key, words in r.sample(self.options, r.choice((0, 1, 2, 3, 5)))]
        made = [f"{key}={v}" for key, v in some if v is not None]
        if r.random() < 0.35:
            # Nothing refers to the parameter then.
            made = [one for one in made if not one.startswith("params.vec-bytes=")] + [self.strategy(r)]
        return [f"--set={one}" for one in made]
