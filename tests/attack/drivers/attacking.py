"""What the random attacks of this folder share: options, running the tools, what every answer must be, and how a failure is told.

    ATTACK.py [--bin DIR] [--seed N] [--count N] [--seconds N] [--keep DIR]

Case N follows from seed N alone. Ends with 1 when one is wrong, and prints its seed and the command that repeats it; its files are in
--keep, in a folder named by the seed."""
import argparse
import collections
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
EXAMPLES = ("softmax/softmax", "softmax/rows", "rms_norm/rms_norm", "rms_norm/bf16", "gemm/gemm", "gemm/bf16", "gemm/transposed", "ffn/ffn")
# An answer may be a refusal of any kind; 6 blames a step, 70 is a defect.
REFUSALS = (1, 2, 3, 4, 5, 75)
SECONDS_MAX = 300  # a guard against what hangs, on a busy machine too


class Wrong(Exception):
    """What does not hold."""


class Tools:
    """Runs the tools in a folder of its own."""

    def __init__(self, folder, bin_folder):
        self.folder, self.bin, self.last = folder, bin_folder, ""

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return name

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def command(self, tool, *arguments):
        return [os.path.join(self.bin, tool), *arguments]

    def run(self, tool, *arguments, may=REFUSALS, crashes=False, **kept):
        """(status, stdout, stderr). Wrong unless the status is 0 or one of `may`, with an error that says why; without the
        words of a crash, unless a plugin `crashes`."""
        self.last = shlex.join([tool, *arguments])
        try:
            r = subprocess.run(self.command(tool, *arguments), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS_MAX, check=False, **kept)
        except subprocess.TimeoutExpired:
            raise Wrong(f"{self.last}: has not ended after {SECONDS_MAX} s") from None
        err = r.stderr.decode(errors="replace")
        if r.returncode != 0 and r.returncode not in may:
            raise Wrong(f"{self.last}: status {r.returncode}: {err[:1500]}")
        if r.returncode in REFUSALS and r.returncode != 1 and not re.search(r"\berror: |ran out", err):
            raise Wrong(f"{self.last}: status {r.returncode} without an error: {err[:1500]}")
        if r.returncode != 70 and not crashes and re.search(r"internal error|Sanitizer|runtime error:", err):
            raise Wrong(f"{self.last}: {err[:1500]}")
        return r.returncode, r.stdout, err


def mutated(r, text, others=()):
    """Bytes with one to three small changes: lines, words, numbers, bytes; or a piece of another text."""
    for _ in range(r.choice((1, 1, 1, 2, 3))):
        text = MUTATIONS[r.randrange(len(MUTATIONS))](r, text, others)
    return text


def words_of(text):
    return list(re.finditer(rb"[%@$]?[A-Za-z_][\w.]*", text))


def numbers_of(text):
    return list(re.finditer(rb"(?<![\w.])-?\d+(?:\.\d+)?", text))


NUMBERS = (b"0", b"1", b"-1", b"2", b"3", b"7", b"16", b"31", b"255", b"4096", b"65537", b"2147483648", b"9223372036854775807", b"-9223372036854775808",
           b"0.5", b"1e308", b"99999999999999999999")


def change_number(r, text, _):
    found = numbers_of(text)
    if not found:
        return text
    m = r.choice(found)
    near = b"%d" % (int(m[0].split(b".")[0]) + r.choice((-1, 1)))
    return text[: m.start()] + (near if r.random() < 0.4 else r.choice(NUMBERS)) + text[m.end():]


def change_word(r, text, _):
    found = words_of(text)
    if not found:
        return text
    m = r.choice(found)
    like = [o[0] for o in found if o[0][:1] == m[0][:1]] if r.random() < 0.7 else [o[0] for o in found]
    return text[: m.start()] + r.choice(like) + text[m.end():]


def change_lines(r, text, others):
    lines = text.split(b"\n")
    i, j = r.randrange(len(lines)), r.randrange(len(lines))
    kind = r.randrange(5)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(i, lines[j])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 3 and others:
        lines.insert(i, r.choice(r.choice(others).split(b"\n")))
    else:
        del lines[min(i, j): min(i, j) + r.randrange(1, 4)]
    return b"\n".join(lines)


def change_bytes(r, text, _):
    at = r.randrange(len(text) + 1)
    kind = r.randrange(4)
    if kind == 0:
        return text[:at] + text[at + r.randrange(1, 5):]
    if kind == 1:
        return text[:at] + bytes((r.choice(b"{}[]()<>,:=\"'%@$#-*x01 \t\n\0\x80\xff"),)) + text[at:]
    if kind == 2:
        return text[:at]
    return text[:at] + bytes((r.randrange(256),)) + text[at + 1:]


MUTATIONS = (change_number, change_number, change_word, change_word, change_lines, change_lines, change_bytes)


def main(check, cases=None):
    """check(tools, seed, found): raises Wrong, and counts in `found` what happened. cases: how many there are, if not any number."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="folder of the tools")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=cases or 100)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--keep", default="failed", help="folder for the files of what is wrong")
    a = parser.parse_args()
    found, wrong, end = collections.Counter(), 0, time.monotonic() + a.seconds
    for name in [n for n in os.environ if n.startswith("PTO_")]:
        del os.environ[name]
    for seed in range(a.seed, a.seed + a.count):
        if time.monotonic() > end:
            break
        folder = tempfile.mkdtemp(prefix="pto-attack-")
        os.environ["TMPDIR"] = folder  # reproducers go with it
        tools = Tools(folder, os.path.abspath(a.bin))
        found["cases"] += 1
        try:
            check(tools, seed, found)
        except Wrong as e:
            wrong += 1
            kept = os.path.join(a.keep, str(seed))
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept, symlinks=True)
            print(f"seed {seed}: {e}\nrepeat with: {sys.argv[0]} --bin {a.bin} --seed {seed} --count 1; files in {kept}", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(", ".join(f"{n} {what}" for what, n in sorted(found.items())) + f", {wrong} wrong")
    sys.exit(1 if wrong or not found["cases"] else 0)


def chance(seed):
    return random.Random(seed * 2654435761 % 2**32)
