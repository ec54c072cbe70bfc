#!/usr/bin/python3
"""tidy.py BUILD JOBS: clang-tidy over every C file of the tree; prints what it finds, status 1 when that is something. clang-query,
which comes with it, finds what clang-tidy has no check for: pointers that are not compared with NULL.

What was found clean is remembered below the user's folder for caches, for every clone, by the hash of all that clang-tidy sees: its
version, .clang-tidy, the command line, and the text of the file and of every header that it includes, each named from the root of the
clone. Only a batch without any finding is remembered, so no finding is ever taken for clean.
"""
import concurrent.futures
import contextlib
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time

TIDY, QUERY, POINTERS = "clang-tidy-19", "clang-query-19", "tests/style/null.query"
BATCH = 6  # files of one process: enough to hide its start, few enough that one finding leaves most of the tree remembered
KEPT_SECONDS = 30 * 24 * 3600
ROOT = os.getcwd()
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pto-tidy")
# Own headers bring what they include (see .clang-tidy); of misc-include-cleaner only unused includes are heeded.
TAKEN_FOR_TRUTH = re.compile(rf'^({re.escape(ROOT)}/.*): note: "root" binds here', re.M)
HEEDED = re.compile(r"^/.*(?:warning|error): (?!.*no header providing)|^error: |^Error while ", re.M)


@functools.cache
def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def commands(build):
    """{file: (folder, compiler arguments)}. A file that this build does not compile (fuzzers, templates) takes the flags of a unit
    test and the includes of plugins and tools."""
    with open(f"{build}/compile_commands.json", encoding="utf-8") as f:
        found = {e["file"]: (e["directory"], shlex.split(e["command"])) for e in json.load(f)}
    folder, test = next(v for k, v in sorted(found.items()) if "/tests/unit/" in k)
    at = test.index("-o")
    others = test[:at]
    for part in ("/plugins/passes/", "/tools/run/"):
        sample = next(v for k, v in sorted(found.items()) if part in k)[1]
        others += [a for a in sample if a.startswith("-I") and a not in others]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c"], capture_output=True, text=True, check=False).stdout
    for name in listed.split("\n"):
        path = os.path.abspath(name)
        if name.endswith(".c") and os.path.exists(path) and path not in found:
            found[path] = (folder, [*others, "-o", "/dev/null", "-c", path])
    return found


def headers_that_were_read(build):
    """{object: every file that the compiler read for it}, as ninja noted when it was built; without those that changed since."""
    noted = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=False).stdout
    found = {}
    for entry in noted.split("\n\n"):
        head, *names = entry.split("\n")
        made = head.partition(": #deps ")[0]
        files = [os.path.join(build, name.strip()) for name in names if name]
        if head.endswith("(VALID)") and is_newer(os.path.join(build, made), files):
            found[made] = files
    return found


def is_newer(made, files):
    return os.path.exists(made) and all(0 < changed(file) <= changed(made) for file in files)


@functools.cache
def changed(path):
    return os.stat(path).st_mtime_ns if os.path.exists(path) else 0


def headers_of(path, folder, command, noted):
    """All that the file includes, and itself; of a file that was not built the preprocessor says it. None: an include is missing."""
    at = command.index("-o")
    if command[at + 1] in noted:
        return noted[command[at + 1]]
    made = subprocess.run([*command[:at], "-M", path], cwd=folder, capture_output=True, text=True, check=False)
    return made.stdout.replace("\\\n", " ").split()[1:] if made.returncode == 0 else None


def key(path, folder, command, basis, noted):
    """The name of the result, or None for a file whose includes cannot be found: clang-tidy will say why."""
    headers = headers_of(path, folder, command, noted)
    if headers is None:
        return None
    h = hashlib.sha256(from_root(f"{basis} {folder} {command}"))
    for header in sorted({os.path.normpath(os.path.join(folder, name)) for name in headers}):
        h.update(from_root(f"{header} {digest(header)}\n"))
    return h.hexdigest()


def from_root(text):
    return text.replace(ROOT, "").encode()


def tidy(files, build):
    run = subprocess.run([TIDY, "--quiet", "-p", build, *files], capture_output=True, text=True, check=False)
    text = run.stdout + run.stderr
    found = [line for line in text.split("\n") if HEEDED.match(line)]
    if run.returncode != 0 and not found:
        found = [f"error: {TIDY} ended with status {run.returncode}: {' '.join(files)}\n{text[-2000:]}"]
    return found + pointers(files, build)


def pointers(files, build):
    run = subprocess.run([QUERY, "-p", build, "-f", POINTERS, *files], capture_output=True, text=True, check=False)
    if run.returncode != 0 or " match" not in run.stdout:
        return [f"error: {QUERY} ended with status {run.returncode}: {' '.join(files)}\n{(run.stdout + run.stderr)[-2000:]}"]
    return [f"{place}: error: a pointer as a truth value; compare it with NULL" for place in TAKEN_FOR_TRUTH.findall(run.stdout)]


def forget_old():
    now = time.time()
    for entry in os.scandir(CACHE):
        with contextlib.suppress(FileNotFoundError):  # another clone forgets too
            if now - entry.stat().st_mtime > KEPT_SECONDS:
                os.unlink(entry.path)


def main():
    build, jobs = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    database = f"{build}/tidy"
    os.makedirs(database, exist_ok=True)
    os.makedirs(CACHE, exist_ok=True)
    forget_old()
    files = commands(build)
    # clang-tidy reads a database of its own, which has the files that the build does not compile as well.
    with open(f"{database}/compile_commands.json", "w", encoding="utf-8") as f:
        json.dump([{"file": k, "directory": d, "arguments": c} for k, (d, c) in sorted(files.items())], f)
    version = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout
    basis = f"{version} {digest('.clang-tidy')} {digest(POINTERS)} {digest(__file__)}"
    findings = set()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        names = sorted(files, key=lambda path: -os.path.getsize(path))
        noted = headers_that_were_read(build)
        keys = dict(zip(names, pool.map(lambda path: key(path, *files[path], basis, noted), names)))
        todo = [path for path in names if keys[path] is None or not os.path.exists(f"{CACHE}/{keys[path]}")]
        for path in set(names) - set(todo):
            with contextlib.suppress(FileNotFoundError):
                os.utime(f"{CACHE}/{keys[path]}")
        # Every batch has large files and small ones.
        count = -(-len(todo) // BATCH)
        batches = [todo[i::count] for i in range(count)]
        for batch, found in zip(batches, pool.map(lambda batch: tidy(batch, database), batches)):
            findings.update(found)
            for path in batch if not found else []:
                if keys[path] is not None:
                    open(f"{CACHE}/{keys[path]}", "w", encoding="utf-8").close()
    print(*sorted(findings), f"{len(names)} files, {len(todo)} of them new", sep="\n")
    return 1 if findings else 0


sys.exit(main())
