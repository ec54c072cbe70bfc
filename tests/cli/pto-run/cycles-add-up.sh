# For every example and every pipe of every core, busy cycles and stalls by cause add up to the total.
. "$TEST_ROOT/tests/shell.sh"
for case in $examples; do
  pto-run --case "$TEST_ROOT/examples/$case.yaml" --size paper --pipeline=default.yaml "$kept_data" --counters >out.txt 2>&1 || fail
  awk -v case="$case" -F ': *' '
    $1 == "cycles" { total = $2 + 0 }
    /^(vector|cube) [0-9]+ \/ / { split($1, part, " / "); sum[part[1] " " part[2]] += $2; if (part[3] == "stall") causes[part[4]] = 1 }
    END {
      for (pipe in sum) {
        pipes++
        if (sum[pipe] != total) { print case ": " pipe ": " sum[pipe] " of " total " cycles"; bad = 1 }
      }
      for (cause in causes) n++
      # 48 vector cores with four pipes each, or 24 cube cores with six, or both.
      if (pipes != 192 && pipes != 144 && pipes != 336) { print case ": " pipes " pipes"; bad = 1 }
      if (total <= 0 || n < 3) { print case ": " total " cycles, " n " causes"; bad = 1 }
      exit bad
    }' out.txt || complain "$case"
done
