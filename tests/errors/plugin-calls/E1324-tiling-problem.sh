# The numbers of a tiling problem are looked at before a strategy sees them; the largest legal ones overflow nothing.
. "$TEST_ROOT/tests/shell.sh"
printf 'func @f(%%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  return %%x\n}\n' >m.ptir
ask() { # STATUS OPTIONS
  ends "$1" pto-opt m.ptir --machine=ascend-910b --plugin="$TEST_PLUGINS/hostile-tiling.so" --passes="test.hostile-problem{$2}" -o out.ptir
}
while IFS=: read -r options says; do
  ask 5 "$options"
  grep -qF "error: [E1324] pass \`test.hostile-problem\` of plugin \`test.hostile-tiling\` gave a tiling problem $says" text || fail "$options"
done <<'WAYS'
granule=9223372036854775807:whose dim 0 has an impossible granule (extent 100, granule 9223372036854775807)
granule=0:whose dim 0 has an impossible granule (extent 100, granule 0)
granule=-1:whose dim 0 has an impossible granule (extent 100, granule -1)
extent=-2:whose dim 0 has an impossible extent (extent -2, granule 16)
extent=9223372036854775807:whose dim 0 has an impossible extent (extent 9223372036854775807, granule 16)
kind=7:whose dim 0 is neither parallel nor reduced (extent 100, granule 16)
name="":whose dim 0 has no plain name (extent 100, granule 16)
dims=0:that is not complete
WAYS
for shape in elementwise box matmul other; do
  for extent in -1 0 1 4611686018427387904; do
    for granule in 1 1048576; do
      ask 0 "granule=$granule,extent=$extent,shape=$shape,dims=2"
      ask 0 "granule=$granule,extent=$extent,shape=$shape,dims=3"
    done
  done
done
