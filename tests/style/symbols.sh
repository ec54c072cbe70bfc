# symbols.sh BUILD: what the built files export and need. A plugin exports its entry and needs libc and libm only; ir/
# needs nothing of core/; unsafe functions and setlocale are not called; the heap is used by few files.
set -u
build=${1:-build}
here=$(dirname "$0")
bad=0
complain() {
  echo "$*"
  bad=1
}

plugins=0
for plugin in "$build"/lib/pto/plugins-1/*.so; do
  [ -f "$plugin" ] || continue
  plugins=$((plugins + 1))
  exported=$(nm -D --defined-only "$plugin" | awk '{ print $NF }' | sort | tr '\n' ' ')
  [ "$exported" = "pto_plugin_entry_v1 " ] || complain "$plugin exports: $exported(wanted: pto_plugin_entry_v1)"
  foreign=$(nm -D --undefined-only "$plugin" | grep -vE '@GLIBC_|^ *w ' | awk '{ print $NF }' | tr '\n' ' ')
  [ -z "$foreign" ] || complain "$plugin needs: $foreign(wanted: libc and libm only)"
  libraries=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vxE 'lib(c|m)\.so\.6' | tr '\n' ' ')
  [ -z "$libraries" ] || complain "$plugin is linked to: $libraries"
  variables=$(objdump -t "$plugin" | sed -n 's/^.* O \.t\{0,1\}\(data\|bss\)\t[0-9a-f]* *\(\.hidden\)\{0,1\} *//p' | grep -vxE ' *(completed\.[0-9]+|__dso_handle|__TMC_END__)' | tr '\n' ' ')
  [ -z "$variables" ] || complain "$plugin holds writable static data: $variables"
done

expected=$(
  {
    # A pass is one file, or one folder of files, in its area.
    find plugins/passes -mindepth 2 -name '*.c' | cut -d/ -f1-4 | sort -u
    find plugins/backends plugins/generators plugins/readers -mindepth 2 -name '*.c' | sed 's|/[^/]*$||' | sort -u
  } 2>/dev/null | grep -c .
)
[ "$plugins" -eq "$expected" ] || complain "$plugins plugins are built, plugins/ has $expected"

# One line "folder/file.c symbol" for every undefined symbol of our objects.
sources=$(find ir core tools plugins -name '*.c')
needed=$(find "$build/ir" "$build/core" "$build/tools" "$build/plugins" -name '*.o' -exec nm -u -A {} + 2>/dev/null |
  sed -n "s|^$build/||; s|CMakeFiles/[^/]*\.dir/||; s|\.o: *[Uwv] | |p" |
  awk -v sources="$sources" 'BEGIN { n = split(sources, name, "\n"); while (n > 0) is_source[name[n--]] = 1 } $1 in is_source')
[ -n "$needed" ] || complain "no objects below $build: build first"

# setlocale is called where the locale that a plugin set is put back.
unsafe=$(printf '%s\n' "$needed" | grep -vxF 'core/host/process_state.c setlocale' | grep -E ' (strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atof|gets|setlocale|system|tmpnam|mktemp|rand)$')
[ -z "$unsafe" ] || complain "these functions are not to be called:
$unsafe"

heap=$(printf '%s\n' "$needed" | grep -E ' (malloc|calloc|realloc|free|strdup|strndup|aligned_alloc|posix_memalign|vasprintf|asprintf)$' |
  awk '{ print $1 }' | sort -u)
allowed=$(sed 's/[ #].*//' "$here/heap-users.txt" | grep .)
for file in $heap; do
  printf '%s\n' "$allowed" | grep -qxF -e "$file" || complain "$file uses the heap and is not in tests/style/heap-users.txt"
done
for file in $allowed; do
  printf '%s\n' "$heap" | grep -qxF -e "$file" || complain "tests/style/heap-users.txt names $file, which does not use the heap"
done

# The libraries from the lowest up: none needs a symbol of one above it.
libraries="ir/libpto_ir_base ir/libpto_ir_context ir/libpto_ir_module ir/libpto_ir_text core/libpto_base core/libpto_files
core/libpto_host core/libpto_compile tools/libpto_tool_base tools/libpto_run tools/libpto_library tools/libpto_check tools/libpto_report tools/libpto_inspect tools/libpto_session"
up=$(
  for library in $libraries; do
    nm "$build/$library.a" 2>/dev/null | sed "s|^|$library |"
  done | awk '
    !($1 in floor) { floor[$1] = ++floors }
    $2 == "U" { needs[$1 " " $3] = $1 }
    NF == 4 && $3 ~ /^[TDRBVW]$/ { home[$4] = $1 }
    END {
      for (need in needs) {
        split(need, word)
        if (word[2] in home && floor[home[word[2]]] > floor[word[1]]) print word[1] " needs " word[2] " of " home[word[2]]
      }
    }' | sort
)
[ -z "$up" ] || complain "$up"
exit $bad
