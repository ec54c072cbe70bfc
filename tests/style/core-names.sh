# core/ names no pass, strategy, property, backend or tool of this tree: no id that a plugin declares, and no name or
# option of a tool, neither in code nor in comments. Run from the root of the tree.
set -u
plugins=$(
  grep -rhoE --include='*.c' --include='*.h' '(\.id = |PTO_PLUGIN\()"[a-z0-9.-]+"' plugins | sed 's/.*"\(.*\)"/\1/' | sort -u
)
tools=$(find tools -maxdepth 1 -name '*.c' | sed 's|.*/\(.*\)\.c$|\1|' | sort)
# Codes of plugins begin with their id: pto.tile/..., so the pattern finds them too.
names=$(printf '%s\n' "$plugins" "$tools" | grep -v '^$')
[ -n "$plugins" ] || { echo "plugins/ declares no id: is the pattern right?"; exit 1; }
pattern=$(printf '%s\n' "$names" | sed 's/[.]/\\./g' | paste -sd '|')
found=$(grep -rnE --include='*.c' --include='*.h' --include='*.def' "(^|[^a-z0-9._-])($pattern)([^a-z0-9-]|\$)" core)
[ -z "$found" ] || { echo "core/ names a plugin or a tool:"; echo "$found"; exit 1; }
# The last part of an id alone is a word of a pass too, except for those that are words of the IR and of C.
words=$(printf '%s\n' "$plugins" | sed 's/.*[.]//' | grep -vxE 'inline|order|pipeline|reference|tile' | sort -u | paste -sd '|')
found=$(grep -rnE --include='*.c' --include='*.h' --include='*.def' "(^|[^a-z0-9._-])($words)([^a-z0-9_-]|\$)" core)
[ -z "$found" ] || { echo "core/ has the word of a plugin:"; echo "$found"; exit 1; }
# In a string, or in a comment.
found=$(grep -rnE --include='*.c' --include='*.h' --include='*.def' '("([^"]*[^a-z"])?|/\*.*[^a-z]|^[[:space:]]*\*.*[^a-z])--[a-z]' core)
[ -z "$found" ] || { echo "core/ names an option of a tool:"; echo "$found"; exit 1; }
