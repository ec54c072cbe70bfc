#!/usr/bin/python3
"""Modules of every step of the default pipeline, damaged at random: a module is refused, or prints as what reads back to the same text,
custom, generic and with locations; the rest of the pipeline and the reference backend then answer somehow, without a defect."""
import functools
import os
import re
import subprocess

import attacking


@functools.cache
def steps(bin_folder):
    text = subprocess.run([os.path.join(bin_folder, "pto-opt"), "--pipeline=default.yaml", "--print-pipeline"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ *(?:- )?id: ([\w-]+)", text, re.M)


@functools.cache
def module(bin_folder, name, step):
    """The text of an example after a step, without blank lines and comments; step None: as it is written."""
    path = f"{attacking.ROOT}/examples/{name}.ptir"
    if step is None:
        with open(path, "rb") as f:
            return f.read()
    return subprocess.run([os.path.join(bin_folder, "pto-opt"), path, "--pipeline=default.yaml", f"--until={step}"], capture_output=True, check=True).stdout


def check(tools, seed, found):
    r = attacking.chance(seed)
    all_steps = steps(tools.bin)
    at = r.randrange(-1, len(all_steps))
    step = None if at < 0 else all_steps[at]
    text = module(tools.bin, r.choice(attacking.EXAMPLES), step)
    other = module(tools.bin, r.choice(attacking.EXAMPLES), step)
    tools.write("m.ptir", attacking.mutated(r, text, (other,)))
    status, printed, _ = tools.run("pto-opt", "m.ptir", "--print-locations" if seed % 7 == 0 else "--print-generic" if seed % 3 == 0 else "--color=never")
    found["read" if status == 0 else "refused"] += 1
    if status:
        return
    tools.write("printed", printed)
    custom = tools.run("pto-opt", "m.ptir", may=())[1]
    status, again, err = tools.run("pto-opt", "printed")
    if status or again != custom:
        raise attacking.Wrong(f"what is printed does not read back to the same text: {err[:600]}")
    after = all_steps[at + 1:]
    if after:
        # A text without the properties that the step before gave is refused, or a step finds that they do not hold.
        status = tools.run("pto-opt", "m.ptir", "--pipeline=default.yaml", f"--from={after[0]}", "-o", "o.ptir", may=(*attacking.REFUSALS, 6))[0]
        found["compiled" if status == 0 else "not compiled"] += 1
    tools.run("pto-run", "m.ptir", "--backend=pto.reference", "--random-inputs=1", "--time-limit=20")


attacking.main(check)
