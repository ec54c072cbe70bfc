# pto-plugin cache: what pto.native keeps, how large it is, when it was used; --clear removes it. A folder of others, or
# one that others can write, is refused.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
folder=$PWD/pto/native-1
negation >f.ptir
native() { ends 0 pto-run f.ptir --pipeline=native.yaml --random-inputs=1; }

ends 0 pto-plugin cache
says_line "$folder: 0 files, 0 bytes" out
[ ! -d pto ] || fail 'it made the folder'
native
ends 0 pto-plugin cache
file=$(basename "$folder"/*.so)
bytes=$(stat -c %s "$folder/$file")
says "^ *$bytes bytes, used  *[0-9]* seconds ago  $file\$" out
says_line "$folder: 1 file, $bytes bytes" out
touch -d '3 days ago 10 seconds ago' "$folder/$file"
ends 0 pto-plugin cache "$folder"
says "^ *$bytes bytes, used   3 days ago  $file\$" out
touch "$folder/of-somebody"
ends 0 pto-plugin cache --clear
says_line "$folder: 1 file, $bytes bytes, removed" out
[ "$(ls "$folder")" = of-somebody ] || fail 'it removed more, or less'
native
ends 0 pto-plugin cache
says '^ .* seconds ago' out

chmod 770 "$folder"
refuses 2 "pto-plugin: error: [E1501] cache folder \`$folder\` can be written by others (mode 0770, expected 0700)" \
  pto-plugin cache --clear
[ -e "$folder/$file" ] || fail 'a refused call removed a file'
chmod 700 "$folder"
if [ "$(id -u)" -eq 0 ]; then
  chown 12345 "$folder"
  refuses 2 "pto-plugin: error: [E1501] cache folder \`$folder\` belongs to user 12345, not to user 0, which runs this" \
    pto-plugin cache
  chown 0 "$folder"
fi
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
  ends 74 unshare -m sh -c "mount --bind '$folder' '$folder' && mount -o remount,bind,ro '$folder' && pto-plugin cache --clear"
  says_line "pto-plugin: error: [E1501] cache folder \`$folder\` cannot be cleared: Read-only file system"
fi
refuses 2 'pto-plugin: error: [E1501] neither $XDG_CACHE_HOME nor $HOME is an absolute path' \
  env -u XDG_CACHE_HOME -u HOME pto-plugin cache
refuses 2 'pto-plugin: error: [E1504] option `--clear` is for `pto-plugin cache [DIR]`' pto-plugin lint --clear f.so
