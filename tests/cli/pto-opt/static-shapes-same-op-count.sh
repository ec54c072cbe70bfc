# Static extents do not change how many ops there are: softmax of 4 and of 100,000 rows, gemm 256^3 and 8192^3, after
# every step.
. "$TEST_ROOT/tests/shell.sh"
steps=$(steps_of default.yaml)
printf '%s\n' "$steps" | grep -qx tile || fail "other steps were found: $steps"
counts() { # FILE: prints step and op count, one line each
  ends 0 pto-opt "$1" --pipeline=default.yaml --print-after-all -o final.ptir
  awk '/^\/\/ after step / { step = $4; steps[++n] = step; next }
    /^ *(%[^=]* = )?((tensor|tile|block|pto|exec)\.[a-z_0-9]+|func|for|forall|if|yield|return)( |$)/ { ops[step]++ }
    END { for (i = 1; i <= n; i++) print steps[i], ops[steps[i]] + 0 }' text
}
same() { # SMALL LARGE
  counts "$1" >small.txt
  counts "$2" >large.txt
  [ "$(sed 's/ .*//' small.txt)" = "$steps" ] || complain "$1: other steps were counted: $(cat small.txt)"
  awk '$2 < 2 { bad = 1 } END { exit bad || NR < 2 }' small.txt || complain "$1: ops were not counted: $(cat small.txt)"
  diff small.txt large.txt || complain "op counts of $1 and $2 differ"
}
for rows in 4 100000; do
  sed "s/\\\$R/$rows/g; s/\\\$C/256/g" "$TEST_ROOT/examples/softmax/rows.ptir" >softmax$rows.ptir
done
same softmax4.ptir softmax100000.ptir
for n in 256 8192; do
  sed "s/\\\$[MNK]/$n/g" "$TEST_ROOT/examples/gemm/gemm.ptir" >gemm$n.ptir
done
same gemm256.ptir gemm8192.ptir
