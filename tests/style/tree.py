"""The files of the tree, for the scripts beside it."""
import os
import subprocess


def tracked():
    """What git tracks; without git, every file outside of build folders."""
    try:
        names = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
        if any(names):
            return [n for n in names if n and os.path.isfile(n)]
    except (OSError, subprocess.CalledProcessError):
        pass
    return [os.path.join(d, f)[2:] for d, folders, files in os.walk(".") if not d.startswith(("./build", "./.git")) for f in files]
