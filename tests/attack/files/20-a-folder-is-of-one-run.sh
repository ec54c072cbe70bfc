# --dump-dir and --report: what an earlier run wrote is removed, exactly that; a file of somebody else, or one that was
# changed, stays, and a run that needs its name fails. Two runs cannot fill one folder at once.
. "$TEST_ROOT/tests/shell.sh"
ffn=$TEST_ROOT/examples/ffn/ffn.ptir softmax=$TEST_ROOT/examples/softmax/softmax.ptir case=$TEST_ROOT/examples/softmax/case.yaml

compile() { pto-opt "$1" --pipeline=default.yaml --dump-dir="$2" -o /dev/null 2>text; }
compile "$ffn" dd && compile "$softmax" dd && compile "$softmax" fresh || fail compile
diff -r dd fresh || fail "dumps of two runs are mixed"

# A dump that was edited, and a file of somebody else.
echo mine >dd/notes.txt
edited=$(echo dd/*-fuse.ptir)
echo '// edited' >>"$edited"
compile "$softmax" dd
[ $? -eq 74 ] || fail "an edited dump was written over"
grep -q "^dd: error: \[E1507\] the folder holds a file \`${edited#dd/}\` that pto did not write, or that was changed since$" text ||
  fail "edited dump"
{ (cd fresh && echo *) | tr ' ' '\n' | sed '/-fuse/q'; echo notes.txt; } >left
(cd dd && echo *) | tr ' ' '\n' | cmp - left || fail "dd: $(ls dd)"
rm "$edited"
compile "$softmax" dd && [ "$(cat dd/notes.txt)" = mine ] || fail "notes.txt"

# A folder that pto never saw.
mkdir own && echo mine >own/index.html
pto-run --case "$case" --report=own >out.txt 2>text
[ $? -eq 74 ] && [ "$(cat own/index.html)" = mine ] && grep -q '^own: error: \[E1507\] .*`index.html`' text || fail "own/index.html"
mkdir list && echo mine >list/.pto-files
fails 74 '^list: error: \[E1507\] the folder holds a file `.pto-files` that pto did not write$' pto-run --case "$case" --report=list
# Lines that no run wrote name nothing that is removed.
mkdir bad && echo keep >keep && echo keep >bad/keep
printf 'pto-files 1\n%s ../keep\n%s keep\nzz\n%s \n' 0000000000000000 0000000000000000 0000000000000000 >bad/.pto-files
pto-run --case "$case" --report=bad >out.txt 2>text && [ -e keep ] && [ -e bad/keep ] || fail "bad"

# Reports of two cases.
pto-run --case "$TEST_ROOT/examples/ffn/case.yaml" --report=r >out.txt 2>text && pto-run --case "$case" --report=r >out.txt 2>text &&
  mv r first && pto-run --case "$case" --report=r >out.txt 2>text || fail report
diff -r first r || fail "reports of two runs are mixed"

# While another run fills it.
(
  flock 9
  exits 74 pto-opt "$softmax" --pipeline=default.yaml --dump-dir=dd -o /dev/null 2>text
) 9<dd/.pto-files || fail "two at once"
grep -q '^dd: error: \[E1508\] another run is filling this folder$' text || fail "two at once"
diff -r -x notes.txt dd fresh || fail "a run that was refused changed the folder"
