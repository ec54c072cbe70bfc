# A folder holds at most 40 entries, files and folders: what one sees of it fits a screen. Run from the root of the
# tree.
set -u
entries_max=40
files=$(git ls-files 2>/dev/null)
# A bare system has no git, and knows no file that is not ours.
[ -n "$files" ] || files=$(find . -name .git -prune -o -name __pycache__ -prune -o -path './build*' -prune -o -type f -print | sed 's|^\./||')
full=$(
  printf '%s\n' "$files" | awk -F/ -v most=$entries_max '
    {
      folder = "."
      for (i = 1; i <= NF; i++) {
        if (!seen[folder, $i]++) entries[folder]++
        folder = i == 1 ? $1 : folder "/" $i
      }
    }
    END { for (f in entries) if (entries[f] > most) print f " has " entries[f] " entries, the limit is " most ": part it by subject" }' | sort
)
[ -z "$full" ] && exit
printf '%s\n' "$full"
exit 1
