# run-golden itself: a wrong expectation, a missing one and a crash must fail, each for its own reason.
set -u
failures=0

# case NAME WANT TEXT < FILE: WANT is pass or fail; TEXT must be in what run-golden prints.
case_is() {
  cat >"$TEST_TMP/$1.ptir"
  if out=$("$TEST_ROOT/tests/run-golden" -b "$TEST_BUILD" "$TEST_TMP/$1.ptir" 2>&1); then got=pass; else got=fail; fi
  case $got:$out in
  "$2":*"$3"*) ;;
  *) echo "$1: wanted $2 with '$3', got $got: $out"; failures=$((failures + 1)) ;;
  esac
}

case_is right pass "" <<'END'
// RUN: echo hello | FileCheck %s
// CHECK: hello
END
case_is wrong-check fail "expected string not found" <<'END'
// RUN: echo hello | FileCheck %s
// CHECK: goodbye
END
case_is one-of-two-wrong fail "expected string not found" <<'END'
// RUN: printf 'one\nthree\n' | FileCheck %s
// CHECK: one
// CHECK-NEXT: two
END
case_is no-run fail "no RUN line" <<'END'
// CHECK: hello
END
case_is no-check fail "no CHECK directive" <<'END'
// RUN: true
END
case_is check-is-never-read fail "no RUN line calls FileCheck" <<'END'
// RUN: echo hello
// CHECK: hello
END
case_is misspelt-directive fail "nothing reads the directive CHECK-NXT" <<'END'
// RUN: echo hello | FileCheck %s
// CHECK: hello
// CHECK-NXT: anything
END
case_is not-alone fail "no line has to come out: CHECK has no directive but NOT and LABEL" <<'END'
// RUN: echo hello | FileCheck %s
// CHECK-LABEL: hello
// CHECK-NOT: goodbye
END
case_is not-alone-beside-another fail "no line has to come out: CHECK-B has no directive but NOT and LABEL" <<'END'
// RUN: echo hello | FileCheck %s
// RUN: echo hello | FileCheck %s --check-prefix=CHECK-B
// CHECK: hello
// CHECK-B-NOT: goodbye
END
case_is not-with-another-prefix pass "" <<'END'
// RUN: echo hello | FileCheck %s --check-prefixes=CHECK,CHECK-B
// CHECK-DAG: hello
// CHECK-B-NOT: goodbye
END
case_is other-prefix pass "" <<'END'
// RUN: echo hello | FileCheck %s --check-prefix=CHECK-B
// CHECK-B: hello
END
case_is left-of-the-pipe-fails fail "failed with status 3" <<'END'
// RUN: (echo hello; exit 3) | FileCheck %s
// CHECK: hello
END
case_is second-line-fails fail "failed with status 1" <<'END'
// RUN: echo hello | FileCheck %s
// RUN: false
// CHECK: hello
END
case_is not-and-exits pass "" <<'END'
// RUN: not false
// RUN: exits 3 sh -c 'echo hello; exit 3' \
// RUN:   | FileCheck %s --check-prefix=CHECK-HELLO
// CHECK-HELLO: hello
END
case_is exits-another-status fail "wanted status 3, got 70" <<'END'
// RUN: exits 3 sh -c 'echo hello; exit 70' | FileCheck %s
// CHECK: hello
END
case_is substitutions pass "" <<'END'
// RUN: echo 100%% > %t && cat %t %S/substitutions.ptir | FileCheck %s
// CHECK: {{^}}100%{{$}}
END
case_is hash-comments pass "" <<'END'
# RUN: echo hello | FileCheck %s
# CHECK: hello
END
case_is unknown-tool fail "failed with status 127" <<'END'
// RUN: no-such-tool | cat
// RUN: echo hello | FileCheck %s
// CHECK: hello
END

# A script that lacks a program is skipped, and is seen to be; not when another fails. A RUN line cannot skip itself.
echo 'exit 77' >"$TEST_TMP/skips.sh"
echo 'exit 1' >"$TEST_TMP/fails.sh"
ends_with() { # STATUS FILE...
  want=$1
  shift
  "$TEST_ROOT/tests/run-golden" -b "$TEST_BUILD" "$@" >/dev/null 2>&1
  got=$?
  [ $got -eq "$want" ] || { echo "$*: wanted status $want, got $got"; failures=$((failures + 1)); }
}
ends_with 77 "$TEST_TMP/skips.sh"
ends_with 1 "$TEST_TMP/skips.sh" "$TEST_TMP/fails.sh"
ends_with 1 "$TEST_TMP/fails.sh" "$TEST_TMP/skips.sh"
case_is run-line-skips fail "failed with status 77" <<'END'
// RUN: echo hello | FileCheck %s; exit 77
// CHECK: hello
END
[ "$failures" -eq 0 ]
