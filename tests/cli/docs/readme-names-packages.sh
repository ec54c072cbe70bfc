# README.md names every Debian package that ./dev installs.
. "$TEST_ROOT/tests/shell.sh"
sed -n 's/^packages_[a-z]*="\(.*\)"$/\1/p' "$TEST_ROOT/dev" | tr ' ' '\n' | grep -v '^\$' | sort -u >packages
[ "$(wc -l <packages)" -gt 10 ] || fail "./dev lists no packages that this test can read"
while IFS= read -r package; do
  grep '^| ' "$TEST_ROOT/README.md" | tr -s ' `;,' '\n' | grep -qxF -e "$package" || complain "README.md does not name $package"
done <packages
