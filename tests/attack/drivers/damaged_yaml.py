#!/usr/bin/python3
"""Pipelines, schedules, cases and machines, damaged at random: refused at a place in a file, or taken; what is taken as a pipeline prints
as one that reads back to the same; a schedule that is kept changes no number."""
import functools
import os
import re
import subprocess

import attacking

SOFTMAX = f"{attacking.ROOT}/examples/softmax/softmax.ptir"


@functools.cache
def texts(bin_folder, kind):
    def opt(*arguments):
        return subprocess.run([os.path.join(bin_folder, "pto-opt"), *arguments], capture_output=True, check=True).stdout
    def file(path):
        with open(f"{attacking.ROOT}/{path}", "rb") as f:
            return f.read()
    if kind == "pipeline":
        return [file("pipelines/default.yaml"), file("pipelines/reference.yaml"), opt("--pipeline=default.yaml", "--print-pipeline"),
                b"pto-pipeline: 1\nextends: default.yaml\nparams:\n  n: { type: int, default: 2 }\nedit:\n  - { set: pipeline.with.stages, to: $params.n }\n  - { remove: fold }\n"]
    if kind == "schedule":
        return [opt(f"{attacking.ROOT}/examples/{e}.ptir", "--pipeline=default.yaml", "-o", "/dev/null", "--emit-schedule=-") for e in ("softmax/softmax", "ffn/ffn")]
    if kind == "machine":
        return [file("pipelines/machines/ascend-910b.yaml"), file("pipelines/machines/cpu-generic.yaml")]
    return [file("examples/softmax/case.yaml"), file("examples/softmax/rows.yaml")]


def refusal(kind, status, err):
    """An error has a place in the file, or names what it cannot read."""
    if status and not re.search(r"^\S+:\d+:\d+: error: |cannot read|cannot be read|is not a |the data program ended|^pto-\w+: error: |ran out", err, re.M):
        raise attacking.Wrong(f"{kind}: status {status} without a place: {err[:600]}")


def check(tools, seed, found):
    r = attacking.chance(seed)
    kind = ("pipeline", "schedule", "machine", "case")[seed % 4]
    all_texts = texts(tools.bin, kind)
    name = tools.write(f"{kind}.yaml", attacking.mutated(r, r.choice(all_texts), all_texts))
    may = attacking.REFUSALS
    if kind == "pipeline":
        # Without one of its steps a pipeline may leave what a checker blames.
        status, printed, err = tools.run("pto-opt", f"--pipeline={name}", "--print-pipeline")
        if status == 0:
            tools.write("printed.yaml", printed)
            again = tools.run("pto-opt", "--pipeline=printed.yaml", "--print-pipeline", may=())[1]
            strip = functools.partial(re.sub, rb"(?m)[ ]*#.*$", b"")
            if strip(again) != strip(printed):
                raise attacking.Wrong("the printed pipeline does not read back to the same")
            tools.run("pto-opt", SOFTMAX, f"--pipeline={name}", "-o", "o.ptir", may=(*may, 6))
    elif kind == "schedule":
        status, _, err = tools.run("pto-run", SOFTMAX, f"--schedule={name}", "--sym=B=2", "--random-inputs=1", "--compare=reference.yaml", may=may[1:])
    elif kind == "machine":
        status, _, err = tools.run("pto-run", SOFTMAX, f"--machine=./{name}", "--sym=B=2", "--random-inputs=1", "--compare=reference.yaml", "--time-limit=60", may=may[1:])
    else:
        # Data programs look for case_data.py in the folder above.
        os.mkdir(tools.path("softmax"))
        for other in ("softmax/softmax.ptir", "softmax/rows.ptir", "softmax/make_data.py", "case_data.py"):
            os.symlink(f"{attacking.ROOT}/examples/{other}", tools.path(other))
        os.rename(tools.path(name), tools.path(f"softmax/{name}"))
        status, _, err = tools.run("pto-run", "--case", f"softmax/{name}", "--backend=pto.reference", "--time-limit=60")
    refusal(kind, status, err)
    found[f"{kind}: {'taken' if status == 0 else 'refused'}"] += 1


attacking.main(check)
