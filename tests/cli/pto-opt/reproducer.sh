# A crash leaves a folder with module, effective pipeline, machine and a script whose path is the last line on stderr;
# the script, run from anywhere, dies in the same way.
. "$TEST_ROOT/tests/shell.sh"
mkdir place other
cd place || exit 1
negation 4 victim >m.ptir
cat >base.yaml <<'END'
pto-pipeline: 1
machine: cpu-generic.yaml
params:
  way: { type: str, default: print }
passes:
  - pass: test.liar-dies
    id: dies
    with: { way: $params.way }
END
printf 'pto-pipeline: 1\nextends: base.yaml\nedit:\n  - { insert-before: dies, with: pto.canonicalize }\n' >p.yaml
cp "$TEST_PLUGINS/liar-dies.so" "it's.so"
again() { # STATUS FUNCTION: the script that the last line names
  script=$(tail -n 1 ../text)
  case $script in "$2"/*) ;; *) fail "the last line is not a path in $2" ;; esac
  [ -x "$script" ] || fail "no program $script"
  (cd / && exits "$1" "$script" >"$TEST_TMP/text.out" 2>"$TEST_TMP/text.again") || fail "$script: another status"
  folder=${script%/*}
  [ ! -s "$TEST_TMP/text.out" ] || fail 'the script printed a module'
}

exits 70 pto-opt m.ptir --plugin="it's.so" --pipeline=p.yaml --set params.way=abort --dump-dir=dump -o out.ptir 2>../text || fail abort
sentence='pto-opt: internal error: the worker was ended by signal 6 (Aborted) in plugin `test.liar-dies`, pass test.liar-dies, step `dies`'
grep -qF "$sentence (base.yaml:6), function @victim" ../text || fail abort
again 70 "$TEST_TMP"
grep -qF "$sentence ($folder/pipeline.yaml:" ../text.again || fail 'another sentence'
cmp m.ptir "$folder/module.ptir" || exit 1
cmp "$TEST_ROOT/pipelines/machines/cpu-generic.yaml" "$folder/machine.yaml" || exit 1
# It holds what the files and the command line came to, and does not need them any more.
mv p.yaml base.yaml m.ptir ../other
(cd / && exits 70 "$script" 2>../"$TEST_TMP"/text.again) || fail 'the script needs the files'
mv ../other/*.yaml ../other/m.ptir .

# From a list of passes and a pipe.
head -n 9 m.ptir | exits 70 pto-opt - --plugin="it's.so" --passes='test.liar-dies{way=exit}' --reproducer=here 2>../text || fail pipe
again 70 "$TEST_TMP/place/here"
cmp m.ptir here/module.ptir || exit 1
exits 70 pto-opt - --plugin="it's.so" --passes='test.liar-dies{way=exit}' <m.ptir 2>../text || fail redirect
again 70 "$TEST_TMP"
cmp m.ptir "$folder/module.ptir" || exit 1

# pto-run, whose pipeline the tool chose.
exits 70 pto-run m.ptir --plugin="it's.so" --backend=pto.reference --passes='test.liar-dies{way=segfault}' --random-inputs 1 2>../text || fail pto-run
again 70 "$TEST_TMP"

# What the command line adds to the pipeline is in the copy, once, and no output is written again.
exits 70 pto-opt m.ptir --plugin="it's.so" --pipeline=p.yaml --set params.way=abort --insert-before=dies=pto.canonicalize --trace=t.json \
  --emit-schedule=s.yaml 2>../text || fail insert
again 70 "$TEST_TMP"
[ "$(grep -c 'pass: pto.canonicalize' "$folder/pipeline.yaml")" -eq 2 ] || fail 'the inserted step is not in the pipeline'
grep -e --insert-before -e --trace -e --emit-schedule "$script" && fail 'it is inserted or written again'

# A folder that is there is not written to.
exits 70 pto-opt m.ptir --plugin="it's.so" --passes=test.liar-dies --reproducer=here 2>../text || fail there
grep -q '^here: error: \[E1501\] cannot create the folder: File exists$' ../text || fail there
[ "$(tail -n 1 ../text)" = 'pto-opt: no reproducer could be written' ] || fail there
# Without a crash there is none.
exits 0 pto-opt m.ptir --plugin="it's.so" --passes='test.liar-dies{way=print}' --reproducer=none -o /dev/null 2>../text && [ ! -e none ] || fail none
