# The final IR of no example has a barrier of all pipes inside a loop.
. "$TEST_ROOT/tests/shell.sh"
barriers() { # FILE: prints the barriers that are inside of a `for`
  awk '
    { indent = match($0, /[^ ]/) - 1 }
    depth && indent <= loop[depth] && /^ *}/ { depth-- }
    /^ *(%[^=]*= )?for / { loop[++depth] = indent; loops++ }
    /pto\.barrier all/ && depth { print FILENAME ":" NR ": " $0; bad = 1 }
    END { if (!loops) print "no loop at all"; exit bad || !loops }' "$1"
}
printf '  for %%i to 3 {\n    pto.barrier all\n  }\n' >bad.ptir
barriers bad.ptir >/dev/null && fail "a barrier in a loop is not found"
printf '  for %%i to 3 {\n    if %%i == 0 {\n    }\n  }\n  pto.barrier all\n' >good.ptir
barriers good.ptir || fail "a barrier after a loop is taken for one inside"
modules=0
for module in "$TEST_ROOT"/examples/*/*.ptir; do
  pto-opt "$module" --pipeline=default.yaml -o final.ptir || exit 1
  barriers final.ptir || complain "$module"
  modules=$((modules + 1))
done
[ $modules -ge 8 ] || fail "only $modules modules"
