# Processes that a plugin starts end with the tool, however it ends: daemons and programs too, and when the tool itself
# is killed the forked ones. One that had to be killed is named; one that ends by itself is not.
. "$TEST_ROOT/tests/shell.sh"
m="$TEST_ROOT/tests/attack/inputs/one-product.ptir"
cat >run.py <<'END'
import os, pathlib, signal, subprocess, sys, time
module, way, status, *words = sys.argv[1:]
mark = f"PTO_ATTACK={os.getpid()}"
env = dict(os.environ, PTO_ATTACK=str(os.getpid()))
if way.startswith("constructor"):
    env["PTO_TEST_LOADING"] = way
    plugin, passes = "hostile-loads", "test.hostile-loads"
else:
    plugin, passes = "hostile-signals", "test.hostile-signals{way=%s}" % way

def alive():
    """Processes with our mark in their environment."""
    found = []
    for p in pathlib.Path("/proc").iterdir():
        try:
            if p.name.isdigit() and int(p.name) != os.getpid() and mark.encode() in (p / "environ").read_bytes().split(b"\0"):
                found.append(int(p.name))
        except OSError:
            pass
    return found

def start(*options):
    return subprocess.Popen(["pto-opt", module, f"--plugin={os.environ['TEST_PLUGINS']}/{plugin}.so", "--passes=" + passes, *options],
                            env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

def ended(p):
    out, err = p.communicate(timeout=120)  # a process that holds the pipes would never let this end
    return p.returncode, out, err

if "--time-limit=" in words:
    # On a busy machine a limit may pass before the plugin forks.
    for limit in (0.3, 1, 3, 10, 30):
        got, out, err = ended(start(f"--time-limit={limit}"))
        if "that plugin" in err or alive():
            break
else:
    p = start()
    if "kill" in words:
        for _ in range(12000):
            if len(alive()) >= 3:
                break
            time.sleep(0.005)
        else:
            sys.exit("the plugin never forked")
        p.kill()
    got, out, err = ended(p)
assert got == int(status), f"status {got}: {err}"
left = alive()
for _ in range(12000 if "kill" in words else 0):  # nobody is left to wait for
    if not left:
        break
    time.sleep(0.005)
    left = alive()
for pid in left:
    os.kill(pid, signal.SIGKILL)
assert not left, f"{len(left)} live on"
said = f"pto-opt: warning: 1 process that plugin `test.{plugin}` started did not end and was killed\n"
assert (said in err) == ("said" in words), err
assert (out != "") == (status == "0"), out
END
while read -r words; do
  # shellcheck disable=SC2086
  /usr/bin/python3 run.py "$m" $words </dev/null >text 2>&1 && continue
  complain "$words"
done <<'END'
fork_stays 0 said
fork_daemon 0
spawn 0 said
fork_ends 0
fork_and_abort 70 said
fork_and_hang 75 said --time-limit=
fork_and_hang -9 kill
constructor-stay 0 said
END
# Children that the tool's process had before are not its own.
sh -c 'sleep 1000 & echo $! >sleeper; exec pto-opt "$0" -o o.ptir' "$m" || complain "the tool waits for another's process"
kill "$(cat sleeper)" || complain "another's process was ended"
