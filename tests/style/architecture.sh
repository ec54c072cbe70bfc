# docs/architecture.svg is what docs/architecture.py draws of the tree today; the script fails when folders include each
# other in a circle.
set -u
drawn=$(mktemp)
trap 'rm -f "$drawn"' EXIT
/usr/bin/python3 docs/architecture.py . >"$drawn" || exit 1
cmp -s "$drawn" docs/architecture.svg && exit
echo "docs/architecture.svg is not what the tree is: /usr/bin/python3 docs/architecture.py . >docs/architecture.svg"
exit 1
