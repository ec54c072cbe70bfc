# --threads, --no-cache and --semantics are options of the backend, which another backend may not have; --backend is a
# setting of the pipeline like others, so that what is set for that backend counts.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
negation >f.ptir
run() { ends 0 pto-run f.ptir --random-inputs=1 --pipeline=native.yaml "$@"; }
run --threads=2 --no-cache --print-pipeline
says '^    threads: 2  # --threads$' out
says '^    cache: false  # --no-cache$' out
run --no-cache
[ ! -d pto ] || fail '--no-cache made a cache'
run --threads=1
[ -d pto ] || fail 'no cache was made'
run --threads=2 --set=backend.with.threads=3 --print-pipeline
says '^    threads: 2  # --threads$' out

fails 2 '^--threads: error: \[E1110\] unknown option of backend `pto.cpu-sim`: `threads`' \
  pto-run f.ptir --random-inputs=1 --threads=2
fails 2 '^--no-cache: error: \[E1110\] unknown option of backend `pto.reference`: `cache`' \
  pto-run f.ptir --random-inputs=1 --pipeline=reference.yaml --no-cache
fails 2 '^--threads: error: \[E1032\] option `threads` of backend `pto.native` must be an integer, not `many`' \
  pto-run f.ptir --random-inputs=1 --pipeline=native.yaml --threads=many
fails 2 '^--threads: error: \[E1033\] option `threads` of backend `pto.native` is 257; the maximum is 256' \
  pto-run f.ptir --random-inputs=1 --pipeline=native.yaml --threads=257
ends 0 pto-run f.ptir --random-inputs=1 --semantics=chip --print-pipeline
says '^    semantics: chip  # --semantics$' out
fails 2 '^--semantics: error: \[E1110\] unknown option of backend `pto.reference`: `semantics`' \
  pto-run f.ptir --random-inputs=1 --pipeline=reference.yaml --semantics=chip
fails 2 'pto-run: error: \[E1503\] option `--semantics` needs meaning or chip, not `silicon`' pto-run f.ptir --random-inputs=1 --semantics=silicon
refuses 2 'pto-run: error: [E1504] option `--threads` has no effect without --pipeline or --passes' \
  pto-run f.ptir --random-inputs=1 --backend=pto.reference --threads=2

fails 2 'E1034\] option `bound` of backend `pto.reference` cannot be `often`' \
  pto-run f.ptir --random-inputs=1 --pipeline=default.yaml --backend=pto.reference --set=backend.with.bound=often
ends 0 pto-run f.ptir --random-inputs=1 --pipeline=default.yaml --backend=pto.reference --set=backend.with.bound=none
fails 3 'E1307\] no plugin provides backend `pto.none`' \
  pto-run f.ptir --random-inputs=1 --pipeline=default.yaml --backend=pto.none
