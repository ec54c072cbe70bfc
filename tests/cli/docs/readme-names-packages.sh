# README.md names every Debian package that ./dev installs.
set -u
sed -n 's/^packages_[a-z]*="\(.*\)"$/\1/p' "$TEST_ROOT/dev" | tr ' ' '\n' | grep -v '^\$' | sort -u >packages
[ "$(wc -l <packages)" -gt 10 ] || { echo "./dev lists no packages that this test can read"; exit 1; }
bad=0
while IFS= read -r package; do
  grep '^| ' "$TEST_ROOT/README.md" | tr -s ' `;,' '\n' | grep -qxF -e "$package" || { echo "README.md does not name $package"; bad=1; }
done <packages
exit $bad
