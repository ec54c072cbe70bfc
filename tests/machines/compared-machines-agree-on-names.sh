# Both pipelines of --compare share the names of spaces, pipes and layouts: a machine of the other one that has another
# role for a name of the first is refused, at the name, with the place of the first; so are more names than there can be
# when both have some.
. "$TEST_ROOT/tests/shell.sh"
negation >m.ptir
machine() { # FILE LAYOUTS PIPE SPACE-ROLE: a machine whose layouts are these
  cat >"$1" <<END
pto-machine: 1
name: small
clock-hz: 1000000000
layouts: { $2 }
cores:
  sm: { count: 2, pipes: { ldg: $3, simd: vector } }
spaces:
  hbm: { role: global, bytes: 1GiB, layouts: [nd] }
  smem: { role: $4, core: sm, bytes: 64KiB, layouts: [nd] }
paths:
- { from: hbm, to: smem, core: sm, pipe: simd, bytes-per-cycle: 10, layouts: [nd-nd] }
vector: { dtypes: [f32] }
instructions:
  default: { head: 1 }
END
}
for name in first space pipe layout; do
  printf 'pto-pipeline: 1\nmachine: %s-machine.yaml\npasses:\n- pto.canonicalize\n' $name >$name.yaml
done
machine first-machine.yaml 'tiled: column-row' load scratchpad
machine space-machine.yaml 'tiled: column-row' load panel
machine pipe-machine.yaml 'tiled: column-row' store scratchpad
machine layout-machine.yaml 'tiled: row-row' load scratchpad

contradicts() { # NAME WHERE SENTENCE WHERE-FIRST
  for tool in pto-opt 'pto-run --random-inputs 1'; do
    # shellcheck disable=SC2086
    refuses 2 "$1-machine.yaml:$2: error: [E0229] $3" $tool m.ptir --pipeline=first.yaml --compare="$1".yaml
    says_line "first-machine.yaml:$4: note: its role is declared here"
  done
}
contradicts space 9:3 'the memory space `smem` has the role `scratchpad`; `panel` is not possible beside it' 9:3
contradicts pipe 6:28 'the pipe `ldg` has the role `load`; `store` is not possible beside it' 6:28
contradicts layout 4:12 'the layout `tiled` has the role `column-row`; `row-row` is not possible beside it' 4:12

# 13 layouts of each, none of them the other's: one more than there can be.
layouts() { # LETTER
  seq -s ', ' -f "$1%.0f: row" 13
}
machine first-machine.yaml "$(layouts a)" load scratchpad
machine layout-machine.yaml "$(layouts b)" load scratchpad
ends 0 pto-opt m.ptir --pipeline=first.yaml
ends 0 pto-opt m.ptir --pipeline=layout.yaml
fails 2 'layout-machine.yaml:4:[0-9]*: error: \[E0231\] `b13` would be the layout number 32; 6 standard names and 25 others are possible' \
  pto-opt m.ptir --pipeline=first.yaml --compare=layout.yaml
