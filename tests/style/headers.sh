# headers.sh BUILD: every header compiles alone; those of the SDK as C11, C17, C2x and C++17.
set -u
build=${1:-build}
log=$(mktemp)
list=$(mktemp)
trap 'rm -f "$log" "$list"' EXIT
bad=0

# alone HEADER COMPILER...: compiles a file that holds nothing but the header.
alone() {
  header=$1
  shift
  "$@" -fsyntax-only -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -I sdk/include -I "$build/include" -include "$header" - </dev/null >"$log" 2>&1 && return
  echo "$header does not compile alone: $*"
  head -n 3 "$log"
  bad=1
}
find ir core tools -name '*.h' >"$list"
while IFS= read -r header; do
  alone "$header" gcc -std=c17 -I . -I plugins/shared -x c
done <"$list"
find sdk/include -name '*.h' >"$list"
while IFS= read -r header; do
  for standard in c11 c17 c2x; do
    alone "$header" gcc -std=$standard -x c
  done
  if command -v g++ >/dev/null; then alone "$header" g++ -std=c++17 -x c++; fi
  if command -v clang-19 >/dev/null; then
    alone "$header" clang-19 -std=c17 -x c
    alone "$header" clang-19 -std=c++17 -x c++
  fi
done <"$list"
exit $bad
