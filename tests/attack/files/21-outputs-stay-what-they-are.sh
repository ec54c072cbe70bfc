# An output that is a link, that has a mode of its own, that may not be written to, or that two options name.
. "$TEST_ROOT/tests/shell.sh"
m=$TEST_ROOT/examples/softmax/softmax.ptir
mode() { stat -c %a "$1"; }

# Links lead to their target: near, far, and to nothing yet.
mkdir far && echo old >real && echo old >far/real
ln -s real near && ln -s "$PWD/far/next" through && ln -s real far/next && ln -s far/new dangling && ln -s round round
for link in near through dangling; do
  pto-opt "$m" -o $link && [ -L $link ] || fail "$link"
done
pto-opt "$m" >want
cmp real want && cmp far/real want && cmp far/new want && [ -L far/next ] || fail "a target was not written"
exits 74 pto-opt "$m" -o round 2>text && [ -L round ] || fail "a circle of links"

# The mode stays; a new file has what umask leaves.
echo old >private && chmod 600 private && echo old >program && chmod 755 program
(umask 027; pto-opt "$m" -o private && pto-opt "$m" -o program && pto-opt "$m" -o fresh) || fail modes
[ "$(mode private) $(mode program) $(mode fresh)" = "600 755 640" ] || fail "modes"

# So does the owner, where we may give files away.
if [ "$(id -u)" -eq 0 ]; then
  chown 65534:65534 private && pto-opt "$m" -o private && [ "$(stat -c %u:%g:%a private)" = 65534:65534:600 ] || fail owner
fi

# Read-only is read-only, for root too.
echo old >kept && chmod 444 kept && ln -s kept tokept
for path in kept tokept; do
  fails 74 "^$path: error: \[E1501\] cannot write: there is a file that may not be written to, mode 0444$" pto-opt "$m" -o $path
done
[ "$(cat kept)" = old ] || fail kept

# One file for two outputs.
compile="pto-opt $m --pipeline=default.yaml"
refuses 2 'pto-opt: error: [E1509] --emit-schedule and --output both name `same`' $compile -o same --emit-schedule=same
refuses 2 'pto-opt: error: [E1509] --trace and --remarks lead to one place, `./same` and `same`' $compile -o o --trace=./same --remarks=same
refuses 2 'pto-opt: error: [E1509] --emit-schedule and --output lead to one place, `real` and `near`' $compile -o near --emit-schedule=real
refuses 2 'pto-opt: error: [E1509] --emit-schedule and --output both go to standard output' $compile --emit-schedule=-
run="pto-run --case $TEST_ROOT/examples/softmax/case.yaml"
refuses 2 'pto-run: error: [E1509] --out and --out both name `y.npy`' $run --out y=y.npy --out y=y.npy
refuses 2 'pto-run: error: [E1509] --dump-dir and --report lead to one place, `r/` and `r`' $run --report=r --dump-dir=r/
[ ! -e same ] && [ ! -e y.npy ] && [ ! -e r ] || fail "something was written"
# Devices, standard output and standard error take what comes.
$compile -o /dev/null --emit-schedule=/dev/null --remarks=- 2>/dev/null && $compile --remarks=- >out.txt 2>/dev/null || fail devices
cmp -s near real || fail near
