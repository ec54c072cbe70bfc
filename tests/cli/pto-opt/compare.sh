# --compare: both pipelines step by step, and where the final modules differ first; status 1 when they do.
. "$TEST_ROOT/tests/shell.sh"
for case in $examples; do
  example "$case"
  exits 0 pto-opt "$module" --pipeline=default.yaml --compare=default.yaml >page 2>text || fail "$module"
  [ ! -s text ] || fail "$module: not silent"
  says '^final IR: equal$' page
  grep '^\* [^t]' page && fail "$module: a step differs"
done

softmax=$TEST_ROOT/examples/softmax/softmax.ptir
ends 1 pto-opt "$softmax" --pipeline=default.yaml --set params.vec-bytes=8KiB --compare=default.yaml -o page
says '^this:  default.yaml --set=params.vec-bytes=8KiB$' page
says '^other: default.yaml$' page
# The tiling is the first that differs, and everything after it does.
sed -n 's/^\* \([a-z0-9-]*\)  .*/\1/p' page | head -1 | grep -qx tile || fail "the first step that differs"
says '^  fuse  *\([0-9]*\)  *\1  *[0-9]*  *[0-9]*  pto.fuse$' page
says '^\* tile  *\([0-9]*\)  *\1  *[0-9]*  *[0-9]*  pto.tile$' page
says '^      bytes given out, all spaces  *[0-9]*  *[0-9]*$' page
says '^final IR: differs, first here$' page
says '^@@ -1,[0-9]* +1,[0-9]* @@$' page
pto-opt "$softmax" --pipeline=default.yaml -o other.ptir && pto-opt "$softmax" --pipeline=default.yaml --set params.vec-bytes=8KiB -o this.ptir || exit 1
diff -u this.ptir other.ptir | sed -n '/^[-+][^-+]/p' | head -3 >wanted
grep '^[-+][^-+]' page | head -3 | cmp - wanted || fail "not the difference that diff finds"

# A step more, a step less, another pass in its place.
exits 0 pto-opt "$softmax" --pipeline=default.yaml --insert-after canonicalize=pto.canonicalize --compare=default.yaml >page 2>text || fail "one more"
says '^\* canonicalize-2  *[1-9][0-9]*  *-  *0  *-  pto.canonicalize$' page
exits 0 pto-opt "$softmax" --pipeline=default.yaml --remove canonicalize-expanded --compare=default.yaml >page 2>text || fail "one less"
says '^\* canonicalize-expanded  *-  *[1-9][0-9]*  *-  *0  pto.canonicalize$' page
exits 0 pto-opt "$softmax" --pipeline=default.yaml --replace order=pto.canonicalize --compare=default.yaml --until canonicalize >page 2>text || fail "until"
says '^  canonicalize  *\([0-9]*\)  *\1  *0  *0  pto.canonicalize$' page
grep -q 'fuse' page && fail "until: steps that did not run"
printf 'pto-pipeline: 1\npasses:\n  - { pass: test.liar-numbers-swaps, id: canonicalize }\n' >p.yaml
exits 0 pto-opt "$softmax" "--plugin=$TEST_PLUGINS/liar-numbers.so" --passes=pto.canonicalize --compare=p.yaml >page 2>text || fail "another pass"
says '^this:  --passes=pto.canonicalize$' page
says '  pto.canonicalize; other: test.liar-numbers-swaps$' page
# With the check, and in the form that is asked for.
exits 1 pto-opt "$softmax" --pipeline=default.yaml --bisect=0 --compare=default.yaml --check=semantics --print-generic >page 2>text || fail "check"
[ "$(grep -c '^semantics: @softmax on random inputs, \$B = 5$' text)" -eq 2 ] || fail "both are checked"
says '^[-+] *%tx_b = "pto_block.buffer"' page

exits 2 pto-opt "$softmax" --pipeline=default.yaml --compare=absent.yaml >page 2>text || fail "absent"
grep -q 'error: \[E1501\] cannot open .absent.yaml.' text || fail "absent: text"
exits 2 pto-opt "$softmax" --pipeline=default.yaml --compare=default.yaml --explain >page 2>text || fail "explain"
grep -q 'error: \[E1504\] --compare excludes --explain' text || fail "explain: text"
exits 2 pto-opt "$softmax" --compare=default.yaml >page 2>text || fail "alone"
grep -q 'error: \[E1504\] option `--compare` has no effect without --pipeline or --passes' text || fail "alone: text"
printf 'pto-pipeline: 1\npasses:\n  - pto.canonicalize\n  - { pass: test.liar-silent }\n' >p.yaml
fails 5 '^p.yaml:4:13: error: \[E1326\]' pto-opt "$softmax" "--plugin=$TEST_PLUGINS/liar-silent.so" --passes=pto.canonicalize --compare=p.yaml -o none
[ ! -e none ] || fail "a page all the same"
