# In every dump of every step of the default pipeline, for every example: every op is found by its path, and paths stay
# as they are when ops that are called otherwise come and go. With sanitizers every fourth example.
set -u
modules=0
for module in "$TEST_ROOT"/examples/*/*.ptir; do
  modules=$((modules + 1))
  [ "$TEST_SHARE" -eq 1 ] || [ $((modules % 4)) -eq 0 ] || continue
  dumps=dumps/$(basename "$module" .ptir)
  mkdir -p "$dumps"
  pto-opt "$module" --pipeline=default.yaml --dump-dir="$dumps" -o /dev/null || exit 1
done
[ "$(find dumps -name '*.ptir' | wc -l)" -ge 80 ] || { echo 'dumps are missing'; find dumps; exit 1; }
PTO_TEST_MODULES=dumps "$TEST_BUILD/tests/unit/test_op_path" '*every_op*'
