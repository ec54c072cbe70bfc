"""A process that answers lines: ours, a peer, or what measures a limit."""
import ctypes
import os
import select
import signal
import subprocess
import tempfile

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"


def memory_settings():
    """What peers get to be at their best: memory in huge pages, which is kept for the next call. malloc of glibc takes
    fresh memory for most results of torch, since it finds no aligned space in what it has."""
    if os.path.exists(JEMALLOC):
        return {"LD_PRELOAD": JEMALLOC, "MALLOC_CONF": "thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0"}
    most = 1 << 35
    return {"GLIBC_TUNABLES": f"glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold={most}:glibc.malloc.trim_threshold={most}"}


class Lost(Exception):
    """It cannot do what was asked, and says why."""


def first_sentence(text):
    """What a tool said was wrong, without the place where, which is of this run."""
    for line in text.split("\n"):
        if "error: " in line:
            return line.split("error: ", 1)[1].strip()
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    return lines[-1] if lines else "it ended without a word"


def begin_on(cpus):
    """What a process does first: it stays on these CPUs, and ends with this one, also when it is stopped then."""
    end_with_parent = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(end_with_parent, signal.SIGKILL)
    os.sched_setaffinity(0, cpus)


class Process:
    """It is stopped unless it is asked: threads that wait for work spin, some for tenths of a second, on the CPUs of
    the one that is asked next."""

    def __init__(self, name, command, threads, greeting=None, seconds=60, is_peer=False):
        """Waits for its first line, which is `greeting` unless that is None. `why` says what went wrong."""
        self.name, self.why, self.is_open = name, None, True
        count = str(threads)
        env = {**os.environ, **(memory_settings() if is_peer else {}), "OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count,
               "MKL_NUM_THREADS": count, "OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
        for given in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
            env.pop(given, None)
        cpus = sorted(os.sched_getaffinity(0))[:threads]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=env,
                                        preexec_fn=lambda: begin_on(cpus))
        self.rest = b""
        try:
            self.greeting = self.answer(seconds, greeting)
        except Lost as e:
            self.is_open, self.why = False, str(e)

    def answer(self, seconds, wanted=None):
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            piece = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
            if not piece:
                raise self.lost(f"there was no answer for {seconds:g} s" if not ready else None)
            self.rest += piece
        os.kill(self.process.pid, signal.SIGSTOP)
        line, self.rest = self.rest.split(b"\n", 1)
        text = line.decode(errors="replace")
        if text.startswith("no") or wanted not in (None, text):
            raise Lost(text[3:] or "it cannot")
        return text

    def lost(self, why):
        self.close()
        self.errors.seek(0)
        return Lost(why or first_sentence(self.errors.read().decode(errors="replace")))

    def ask(self, line, seconds, wanted=None):
        if not self.is_alive():
            raise Lost(self.why or "it has ended")
        os.kill(self.process.pid, signal.SIGCONT)
        try:
            self.process.stdin.write((line + "\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self.lost(None)
        return self.answer(seconds, wanted)

    def is_alive(self):
        return self.process.poll() is None

    def close(self):
        self.process.kill()
        self.process.wait()
