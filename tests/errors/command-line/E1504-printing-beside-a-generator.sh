# What is asked of the text of the module is refused where a code generator writes the output.
. "$TEST_ROOT/tests/shell.sh"
negation >m.ptir
for option in print-generic print-locations compare=default.yaml; do
  refuses 2 "pto-opt: error: [E1504] option \`--${option%=*}\` has no effect with \`-o m.c\`: code generator pto.emit-c writes that, not the printer of modules" \
    pto-opt m.ptir --pipeline=native.yaml --$option -o m.c
  [ ! -e m.c ] || fail "--$option left m.c"
done
fails 2 '`--print-generic` has no effect with `-o tree/`: code generator pto.emit-ascend writes that' \
  pto-opt m.ptir --pipeline=ascend.yaml --print-generic -o tree/
ends 0 pto-opt m.ptir --pipeline=native.yaml --print-generic --print-locations -o generic.ptir
