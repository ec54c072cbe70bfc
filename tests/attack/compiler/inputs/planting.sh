# Plants a miscompile after a step of the default pipeline, and looks whether --check=semantics names the step. Read by
# the scripts above, after tests/shell.sh.
plugin=$TEST_PLUGINS/hostile-miscompiles.so
id=test.hostile-miscompiles
sed -e 's/^  vector: { count: 48,/  vector: { count: 2,/; s/^  cube: { count: 24,/  cube: { count: 1,/' \
  "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >few.yaml # cores come to a second tile early
cmp -s few.yaml "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" && fail "the machine has as many cores as before"
planted=0
run() { # MODULE OPTIONS..
  module=$1
  shift
  pto-opt "$module.ptir" --pipeline=default.yaml --machine=./few.yaml "--plugin=$plugin" --check=semantics -o /dev/null "$@" >out.txt 2>text
}
finds() { # LEVEL AFTER MODULE PLANT..: true when the last one was tried
  level=$1 after=$2 module=$3
  shift 3
  for plant in "$@"; do
    planted=$((planted + 1))
    # With sanitizers some of them: what they look for is not what is planted.
    tried=$((planted % TEST_SHARE == 0))
    [ $tried -eq 1 ] || continue
    run "$module" --insert-after "$after=$id-$level{plant=$plant}"
    got=$?
    [ $got -eq 6 ] && grep -q "error: \[E190[12]\] step \`hostile-miscompiles-$level\` (pass $id-$level of plugin $id)" text && continue
    complain "$plant in $module after $after: status $got, the step is not named"
  done
  [ $tried -eq 1 ]
}
