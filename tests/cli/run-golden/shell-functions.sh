# The functions of tests/shell.sh end a script with 1 when what they ask for is not so, say what that was, and are
# silent otherwise.
. "$TEST_ROOT/tests/shell.sh"

# script WANT TEXT: the lines on standard input, after those that read shell.sh; TEXT is in what it prints.
script() {
  { echo '. "$TEST_ROOT/tests/shell.sh"'; cat; } >script.sh
  rm -rf inside && mkdir inside
  (cd inside && sh ../script.sh) >said 2>&1
  got=$?
  case $got:$(cat said) in
  "$1":*"$2"*) ;;
  *) complain "wanted $1 with '$2', got $got: $(cat script.sh said)" ;;
  esac
}
silent() {
  script 0 ''
  [ ! -s said ] || complain "not silent: $(cat script.sh said)"
}
silent <<'END'
ends 0 true
ends 3 sh -c 'echo a.b; echo [x] >&2; exit 3'
says '^\[x\]$'
says 'a' out
says_line '[x]'
says_line a.b out
fails 4 '^x' sh -c 'echo xyz >&2; exit 4'
refuses 4 'x.z' sh -c 'echo x.z >&2; exit 4'
END
script 1 'wanted status 0, got 1 from: false' <<'END'
ends 0 false
END
script 1 'sh -c echo no >&2; exit 2: not said: yes' <<'END'
fails 2 yes sh -c 'echo no >&2; exit 2'
END
script 1 'not said: no' <<'END'
refuses 2 no sh -c 'echo no more >&2; exit 2'
END
script 1 'not said: a.b' <<'END'
echo axb >text
says_line a.b
END
script 1 'what was printed' <<'END'
echo what was printed >text
fail
END
script 1 'in the middle' <<'END'
complain in the middle
ends 0 true
END
script 1 '' <<'END'
set -e
false
echo goes on
END
! grep -q 'goes on' said || complain 'set -e does not end it'
script 7 '' <<'END'
exit 7
END
