"""One peer, at a number of threads: peer_worker.py NAME THREADS. Lines of standard input:

    open FOLDER          the program and the arrays that program.json there names -> `ready`, or `no REASON`
    time SECONDS [warm]  calls until so many have passed, after one that is not timed -> nanoseconds of each
    save NUMBER FILE     writes a result as .npy -> `saved`
The first line it writes is the version of the peer.
"""
import gc
import importlib
import json
import os
import sys
import time

import numpy as np


def open_folder(peer, folder):
    with open(os.path.join(folder, "program.json")) as file:
        job = json.load(file)
    build = peer.PROGRAMS.get(job["program"])
    if build is None:
        raise NotImplementedError("it has no such program here")
    tensors = {name: np.load(os.path.join(folder, name + ".npy")) for name in job["tensors"]}
    call, results = build(tensors, job["sizes"])
    call()
    return call, results


def time_calls(call, words):
    if len(words) < 3:
        call()
    times, end = [], time.perf_counter_ns() + int(1e9 * float(words[1]))
    while not times or times[-1][1] < end:
        begin = time.perf_counter_ns()
        call()
        times.append((begin, time.perf_counter_ns()))
    return " ".join(str(to - begin) for begin, to in times)


def main():
    peer = importlib.import_module(sys.argv[1] + "_peer")
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    print(peer.begin(int(sys.argv[2])), file=answers)
    call = results = None
    gc.disable()
    for line in sys.stdin:
        words = line.split()
        try:
            if words[0] == "open":
                call = results = None
                gc.collect()
                call, results = open_folder(peer, words[1])
                print("ready", file=answers)
            elif words[0] == "time":
                print(time_calls(call, words), file=answers)
            elif words[0] == "save":
                made = results()[int(words[1])]
                np.save(words[2], made.view(np.uint16) if made.dtype == np.int16 else made)
                print("saved", file=answers)
        except Exception as e:  # whatever a peer cannot do is said in its row
            print("no", (str(e) or type(e).__name__).replace("\n", " ")[:200], file=answers)


main()
