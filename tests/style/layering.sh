# Who may include whom, and what a file may be called. Run from the root of the tree.
set -u
bad=0
complain() {
  echo "$*"
  bad=1
}

# includes FOLDER: file:line:name of every #include of our own files below FOLDER, quoted ones with their quotes.
includes() {
  [ -d "$1" ] || return 0
  find "$1" \( -name '*.c' -o -name '*.h' \) -exec grep -HnoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("[^"]*"|<pto/[^>]*>)' {} + |
    sed 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*/:/'
}

# Standard input: lines of includes(). Complains of those that the pattern of names does not allow.
only() {
  found=$(grep -vE ":($1)\$")
  [ -z "$found" ] || complain "$2:
$found"
}

only_from() {
  lines=$(includes "$1")
  [ -n "$lines" ] || return 0
  only "$2" "$3" <<END
$lines
END
}

only_from ir '"ir/[^"]*"' "ir/ depends on nothing of ours but ir/"
lines=$(includes core | grep -v '^core/cli/')
[ -z "$lines" ] || only '"(ir|core)/[^"]*"|<pto/[^>]*>' "core/ may include ir/, core/ and the SDK" <<END
$lines
END
up=$(printf '%s\n' "$lines" | grep '"core/cli/')
[ -z "$up" ] || complain "core/ must not include core/cli/:
$up"
only_from sdk/include '<pto/[^>]*>' "SDK headers include <pto/...> and the C library only"
only_from plugins/passes '<pto/[^>]*>|"[^"/]*"' "a pass includes <pto/...>, files of its own folder and the C library only"
for folder in plugins/backends/*/; do
  [ -d "$folder" ] || continue
  lines=$(includes "$folder")
  [ -n "$lines" ] || continue
  own=$(basename "$folder")
  only "<pto/[^>]*>|\"[^\"/]*\"|\"($own|pto-semantics)/[^\"]*\"" "a backend includes <pto/...>, its own files and pto-semantics/ only" <<END
$lines
END
done

sources=$(find ir core plugins sdk tests examples \( -name '*.c' -o -name '*.h' \) 2>/dev/null | grep -v '/template/')
twice=$(printf '%s\n' "$sources" | sed 's|.*/||' | sort | uniq -d)
for name in $twice; do
  complain "two files are called $name:
$(printf '%s\n' "$sources" | grep "/$name\$")"
done
vague=$(printf '%s\n' "$sources" | grep -E '/(utils?|common|helpers?|misc)[._-]|[_-](utils?|common|helpers?|misc)\.')
[ -z "$vague" ] || complain "a name must say what the file is about:
$vague"
exit $bad
