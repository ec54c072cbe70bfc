# Guides and examples are installed, whole: every link in them leads to something installed, and a case of them runs
# from there.
set -e
. "$TEST_ROOT/tests/shell.sh"
unset PTO_PLUGIN_PATH PTO_PIPELINE_PATH
cmake --install "$TEST_BUILD" --prefix "$TEST_TMP/a" >install.log
mv a b
share=$TEST_TMP/b/share/pto
for folder in docs examples; do
  (cd "$TEST_ROOT" && git ls-files "$folder" 2>/dev/null || find "$folder" -type f) | grep -E '\.(md|svg|ptir|yaml|py|c|cpp)$' | grep -v '/tour\.md$' | sort >wanted
  [ -s wanted ]
  (cd "$share" && find "$folder" -type f | sort) | diff wanted - || fail "$folder: other files than in the source"
done
find "$share/docs" "$share/examples" -name '*.md' | while read -r page; do
  grep -oE '\]\([^)# ]+' "$page" | sed 's/^](//' | grep -v '://' | while read -r link; do
    [ -e "$(dirname "$page")/$link" ] || echo "$page: $link leads nowhere"
  done
done >broken
[ ! -s broken ] || { cat broken; exit 1; }
b/bin/pto-run --case "$share/examples/softmax/case.yaml" >out
grep -q '^y: ok' out
grep -q 'share/pto/examples/softmax/case.yaml' "$share/docs/first-pass.md"
