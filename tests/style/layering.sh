# What may include what, and what a file may be called. Run from the root of the tree.
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

# One row for each folder of the libraries: whose headers it may include. The SDK is open to core/ and tools/.
while read -r folder rest; do
  [ -d "$folder" ] || continue
  allowed=$(for f in $folder $rest; do printf '"%s/[^"/]*"|' "$f"; done)
  case $folder in ir*) ;; *) allowed="$allowed<pto/[^>]*>|" ;; esac
  lines=$(includes "$folder" | grep -E "^$folder/[^/]*:")
  [ -n "$lines" ] || continue
  only "${allowed%|}" "$folder/ may include: $folder $rest" <<LINES
$lines
LINES
done <<END
ir/base ir/ops
ir/context ir/base ir/ops
ir ir/base ir/context ir/ops
ir/verify ir ir/base ir/context
ir/text ir ir/base ir/context ir/verify ir/ops
core ir/base
core/files core ir ir/base ir/context ir/ops
core/host core core/files ir ir/base ir/context ir/verify ir/text ir/ops
core/compile core core/files core/host ir ir/base ir/context ir/text
tools/base ir/base core
tools/run tensor_files tools/base core core/files core/host core/compile ir ir/base ir/context ir/verify ir/text
tools/library tools/base core core/files core/host core/compile tools/run ir ir/base ir/context ir/verify ir/text
tools/build text tools/base core core/compile tools/run tools/library ir ir/base ir/context ir/verify ir/text
tools/check tools/base core core/files core/host core/compile tools/run ir ir/base ir/context ir/verify ir/text
tools/report tools/base core core/files core/host core/compile tools/run ir ir/base ir/context ir/text
tools/reduce tools/base core ir ir/base ir/context ir/verify ir/text
tools/inspect native tools/base core core/files core/host core/compile tools/run ir ir/base ir/context ir/ops
tools/session tools/base core core/files core/host core/compile tools/run tools/library tools/check tools/report tools/inspect ir ir/base ir/context ir/verify ir/text
tools tools/base core core/files core/host core/compile tools/run tools/library tools/build tools/check tools/report tools/inspect tools/reduce tools/session ir ir/base ir/context ir/verify ir/text
END
only_from sdk/include '<pto/[^>]*>' "SDK headers include <pto/...> and the C library only"
only_from plugins/shared '<pto/[^>]*>|"[^"/]*"|"(semantics|tensor_files)/[^"]*"' "plugins/shared includes <pto/...>, files of the same folder and the C library only"
only_from plugins/passes '<pto/[^>]*>|"[^"/]*"' "a pass includes <pto/...>, files of its own folder and the C library only"
for folder in plugins/backends/*/ plugins/generators/*/ plugins/readers/*/; do
  [ -d "$folder" ] || continue
  lines=$(includes "$folder")
  [ -n "$lines" ] || continue
  own=$(basename "$folder")
  only "<pto/[^>]*>|\"[^\"/]*\"|\"($own|semantics)/[^\"]*\"" "a backend includes <pto/...>, its own files and semantics/ only" <<END
$lines
END
done

sources=$(find ir core tools plugins sdk tests examples \( -name '*.c' -o -name '*.h' \) 2>/dev/null | grep -v '/template/')
twice=$(printf '%s\n' "$sources" | sed 's|.*/||' | sort | uniq -d)
for name in $twice; do
  complain "two files are called $name:
$(printf '%s\n' "$sources" | grep "/$name\$")"
done
vague=$(printf '%s\n' "$sources" | grep -E '/(utils?|common|helpers?|misc)[._-]|[_-](utils?|common|helpers?|misc)\.')
[ -z "$vague" ] || complain "a name must say what the file is about:
$vague"
exit $bad
