#!/usr/bin/python3
"""SIGKILL, SIGTERM or SIGINT at a random moment, to the tool, its worker, both, or the group: every output is whole, old or new, or not there;
no temporary file and no process is left."""
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import time

import attacking

OLD = b"what was there before\n"


def marked(mark):
    """Processes with our mark in their environment, except for ours and dead ones."""
    found = []
    for p in pathlib.Path("/proc").iterdir():
        try:
            if p.name.isdigit() and int(p.name) != os.getpid() and mark in (p / "environ").read_bytes().split(b"\0"):
                found.append(int(p.name))
        except OSError:
            pass
    return found


def duration(tools, command, environment):
    begin = time.monotonic()
    r = subprocess.run(command, cwd=tools.folder, env=environment, capture_output=True, check=False)
    if r.returncode:
        raise attacking.Wrong(f"undisturbed: status {r.returncode}: {r.stderr.decode(errors='replace')[:600]}")
    return time.monotonic() - begin


def send(r, p):
    """What was sent to which process. One of them may have ended by itself, or by the death of the other."""
    number = r.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    whom = r.choice(("tool", "worker", "both", "group"))
    workers = []
    with contextlib.suppress(OSError):
        workers = [int(w) for w in pathlib.Path(f"/proc/{p.pid}/task/{p.pid}/children").read_text().split()]
    if whom == "group":
        with contextlib.suppress(OSError):
            os.killpg(p.pid, number)
    else:
        for pid in ([p.pid] if whom != "worker" else []) + (workers if whom != "tool" else []):
            with contextlib.suppress(OSError):
                os.kill(pid, number)
    return f"{number.name} to {whom}"


def has_nameless_files(folder):
    """Whether a file of this file system can be written before it has a name."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
    except OSError:
        return False
    return True


def may_be_left(tools, name, whole, sent, replaces):
    """Putting a whole file in the place of another takes two calls of the system: SIGKILL between them leaves it beside the old one.
    Where no file can be written without a name, SIGKILL leaves what was written."""
    output = name.rpartition(".")[0]
    if not sent.startswith("SIGKILL") or output not in whole:
        return False
    if has_nameless_files(tools.folder):
        return replaces and tools.read(name) == whole[output]
    return whole[output].startswith(tools.read(name))


def check(tools, seed, found):
    r = attacking.chance(seed)
    outputs = ["o.ptir"]
    module = f"{attacking.ROOT}/examples/{r.choice(attacking.EXAMPLES)}.ptir"
    if seed % 3 == 0:
        command = tools.command("pto-run", f"{attacking.ROOT}/examples/softmax/softmax.ptir", "--sym=B=4", "--random-inputs=1", "--out=y=y.npy")
        outputs = ["y.npy"]
    elif seed % 3 == 1:
        command = tools.command("pto-opt", module, "--pipeline=default.yaml", "-o", "o.ptir")
    else:
        command = tools.command("pto-opt", module, "--pipeline=default.yaml", "-o", "o.ptir", "--emit-schedule=s.yaml", "--remarks=r.txt", "--dump-dir=dumps")
        outputs += ["s.yaml", "r.txt"]
    # What a whole run leaves, and how long it takes.
    mark = f"PTO_KILLS={os.getpid()}.{seed}.{random.getrandbits(32)}"
    environment = {**os.environ, mark.split("=")[0]: mark.split("=")[1]}
    seconds = duration(tools, command, environment)
    whole = {name: tools.read(name) for name in outputs}
    for name in outputs:
        if seed % 2:
            os.unlink(tools.path(name))
        else:
            tools.write(name, OLD)
    with open(tools.path("../" + os.path.basename(tools.folder) + ".err"), "wb") as err:
        p = subprocess.Popen(command, cwd=tools.folder, env=environment, stdout=err, stderr=err, start_new_session=True)
        time.sleep(seconds * (r.random() * 1.1 if r.random() < 0.5 else 0.8 + 0.3 * r.random()))
        sent = send(r, p)
        found[sent] += 1
        p.wait(attacking.SECONDS_MAX)
    os.unlink(err.name)
    # The kernel ends what lost its parent; that takes a moment on a busy machine.
    end = time.monotonic() + 60
    while (left := marked(mark.encode())) and time.monotonic() < end:
        time.sleep(0.005)
    for pid in left:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    if left:
        raise attacking.Wrong(f"{sent}, status {p.returncode}: {len(left)} processes live on")
    # Dumps are many files, each whole; a reproducer is a folder that a worker's death leaves.
    there = sorted(n for n in os.listdir(tools.folder) if n != "dumps" and not n.startswith("pto-") and not n.startswith("python"))
    unknown = [n for n in there if n not in outputs]
    unknown = [n for n in unknown if not may_be_left(tools, n, whole, sent, replaces=seed % 2 == 0)]
    if unknown:
        raise attacking.Wrong(f"{sent}, status {p.returncode}: left: {' '.join(unknown)}")
    for name in outputs:
        have = tools.read(name) if name in there else None
        if have not in (whole[name], None if seed % 2 else OLD):
            raise attacking.Wrong(f"{sent}, status {p.returncode}: {name} is not whole: {len(have or b'')} of {len(whole[name])} bytes")


attacking.main(check)
