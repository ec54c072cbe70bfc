# A generator without a key is asked for its text, one with a key for that first; what fails is said either way.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD/cache"
negation >f.ptir
cat >run <<'END_OF_RUN'
#!/bin/sh
exec pto-run f.ptir --plugin="$TEST_PLUGINS/$1.so" --pipeline=native.yaml --random-inputs=1 \
  --set="backend.with.generator={ use: test.$1, with: { $2 } }"
END_OF_RUN
chmod +x run
fails 5 'f.ptir:1:1: error: \[pto.native/compiler\] C compiler `.*` ended with status 1: module.c:1:1: error: ' \
  ./run liar-files 'says: nothing'
fails 5 'f.ptir:1:1: error: \[pto.native/compiler\] C compiler `.*` ended with status 1: module.c:1:1: error: ' \
  ./run liar-key 'fails: false'
fails 5 '<command line>:1:24: error: \[E1326\] code generator `test.liar-key` of plugin `test.liar-key` failed without saying why' ./run liar-key 'fails: true'
[ -z "$(find cache -name '*.so')" ] || fail 'something is kept'
