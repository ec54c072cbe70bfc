# A README of at most ten lines in every folder that a reader of the tree opens: the first two levels, and every
# backend, generator, reader, shared library and template of plugins, and example. (READMEs of examples, of templates
# and of what generators write and readers read are for users and may be longer.) No paths of one machine in any file.
set -u
bad=0
complain() {
  echo "$*"
  bad=1
}

folders=$(
  find ir core tools plugins pipelines sdk tests docs examples -type f ! -path '*/__pycache__/*' 2>/dev/null | sed 's|/[^/]*$||' |
    awk -F/ '{ print $1; if (NF > 1) print $1 "/" $2; if (NF > 2 && ($1 == "plugins" && $2 != "passes" || $2 == "backends" || $2 == "template")) print $1 "/" $2 "/" $3 }' | sort -u
)
for folder in $folders; do
  if [ ! -f "$folder/README.md" ]; then
    # sdk/include holds one folder, whose README is sdk's.
    [ "$folder" = sdk/include ] || complain "$folder has no README.md: what lives here, what may include what"
    continue
  fi
  case $folder in examples/* | docs | sdk/template/* | plugins/generators/* | plugins/readers/*) continue ;; esac
  lines=$(wc -l <"$folder/README.md")
  [ "$lines" -le 10 ] || complain "$folder/README.md has $lines lines, the limit is 10"
done

# The head of a pass says what it requires and what it leaves.
for pass in $(grep -rlE '^PTO_PLUGIN\(' plugins/passes --include='*.c' 2>/dev/null); do
  sed '/\*\//q' "$pass" | tr '\n' ' ' | grep -q 'Requires .*[Ll]eaves ' || complain "$pass: its head does not say \`Requires ..\` and \`Leaves ..\`"
done

# Lines of prose have at most 120 columns: a table, a program and a picture may be wider.
wide=$(find . -name '*.md' ! -path './build*' ! -path './.git/*' ! -path './docs/reference/*' -exec awk '
  FNR == 1 { code = 0 }
  /^```/ { code = !code }
  !code && !/^[|!]/ && length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns, the limit is 120" }' {} +)
[ -z "$wide" ] || complain "$wide"

# A bare system has no git, and a git that does not trust the folder's owner answers nothing.
machine_path='(^|[^A-Za-z0-9_./-])/(work|root|home|farm)/'
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  paths=$(git grep -nIE "$machine_path" -- . ':!*.npy' ':!LICENSE' ':!tests/style/docs.sh')
else
  paths=$(grep -rnIE --exclude-dir=.git --exclude-dir=__pycache__ --exclude-dir='build*' --exclude='*.npy' --exclude=LICENSE --exclude=docs.sh "$machine_path" .)
fi
[ -z "$paths" ] || complain "paths of one machine:
$paths"
exit $bad
