# A tool that is nowhere near its plugins finds no folder to search, and says what can name one.
. "$TEST_ROOT/tests/shell.sh"
mkdir bin && cp "$TEST_BUILD/bin/pto-opt" bin && negation >m.ptir
unset PTO_PLUGIN_PATH
export XDG_DATA_HOME="$PWD/none" HOME="$PWD"
refuses 3 '<command line>:1:1: error: [E1307] no plugin provides pass `acme.x`' bin/pto-opt m.ptir --passes=acme.x
says_line 'note: no plugin folder was found; PTO_PLUGIN_PATH can name some'
