# Plugins that end the process, take what others need, or change what makes no sense: each is named, with the right
# status, or does no harm: then the module is what it is without them. tests/plugins/hostile/ says what the ways are;
# other ways have tests of their own.
. "$TEST_ROOT/tests/shell.sh"
m="$TEST_ROOT/tests/attack/inputs/one-product.ptir"
# What ends in the middle of its work frees nothing.
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
pto-opt "$m" --pipeline=default.yaml -o want.ptir || exit 1
who='in plugin `test\.hostile-\(ends\|takes\|changes\)`, pass test\.hostile-[a-z]*, step `hostile-[a-z]*` (<command line>:1), function @f$'
killed='internal error: the worker was ended by signal'
itself='internal error: the worker ended itself with status'
pass="pass \`test\\.hostile-changes\` of plugin \`test\\.hostile-changes\`"
rows=0
while IFS='|' read -r plugin way status text; do
  rows=$((rows + 1))
  rm -f o.ptir
  if [ "$status" = "0" ]; then
    set -- --pipeline=default.yaml "--insert-after=canonicalize=test.hostile-$plugin{way=$way}"
  else
    set -- "--passes=test.hostile-$plugin{way=$way}"
  fi
  # Through a pipe, since some take away the files.
  { pto-opt "$m" --plugin="$TEST_PLUGINS/hostile-$plugin.so" "$@" -o o.ptir </dev/null 2>&1; printf '\nstatus %d\n' $?; } | cat >said
  case $text in
  KILLED*) text="$killed ${text#KILLED} $who" ;;
  ITSELF*) text="$itself ${text#ITSELF} $who" ;;
  *PASS*) text="${text%PASS*}$pass${text#*PASS}" ;;
  esac
  if ! { [ "$(tail -n 1 said)" = "status $status" ] && { [ -z "$text" ] || grep -q -e "$text" said; } && [ "$(ls -A o.ptir.* 2>/dev/null)" = '' ]; }; then
    complain "$plugin $way: wanted status $status and \`$text\`"
  elif [ "$status" = 0 ] && ! cmp -s want.ptir o.ptir; then
    complain "$plugin $way: another module"
  elif [ "$status" != 0 ] && [ -e o.ptir ]; then
    complain "$plugin $way: left an output"
  fi
done <<END
ends|null_read|70|KILLED[0-9]* (.*)
ends|null_call|70|KILLED[0-9]* (.*)
ends|exit_0|70|ITSELF0
ends|quick_exit|70|ITSELF3
ends|exit_at_once|70|ITSELF0
ends|exit_group|70|ITSELF4
ends|exit_thread|70|ITSELF5
ends|exec|70|ITSELF0
ends|trap|70|KILLED[0-9]* (.*)
ends|bus|70|KILLED[0-9]* (.*)
ends|divide|70|KILLED[0-9]* (.*)
ends|alarm|70|KILLED14 (Alarm clock)
ends|big_frame|70|KILLED[0-9]* (.*)
ends|jump|70|internal error: the worker \\(was ended by signal\\|ended itself with status\\) [0-9]* .*$who
ends|thread_falls|70|KILLED[0-9]* (.*)
ends|thread_stays|0|
ends|exit_of_thread_alone|70|ITSELF0
ends|at_exit|0|
takes|scratch_all|75|memory ran out $who
takes|scratch_product|75|memory ran out $who
takes|keep_all|75|memory ran out $who
takes|descriptors|74|^o\\.ptir: error: \\[E1501\\] cannot create: Too many open files
takes|limit_descriptors|74|^o\\.ptir: error: \\[E1501\\] cannot create: Too many open files
takes|limit_files|74|^o\\.ptir: error: \\[E1501\\] cannot write: File too large
takes|limit_stack|0|
takes|close_stdout|0|warning: \\[E1327\\] .*hostile-takes.* changed standard input, output or error
takes|reopen_stdout|0|
takes|buffer_stdout|0|^nobody flushes this
takes|garbage|0|^GARBAGE
takes|trace_me|0|
takes|no_calls|75|memory or time ran out: the worker was ended by signal 9 (Killed) $who
takes|environment|0|
takes|no_environment|0|
takes|lowest_priority|0|
changes|erase_twice|5|\\[E1320\\] PASS used a handle of an op that was erased
changes|erase_unit|5|\\[E1324\\] PASS tried to erase the function that it was given
changes|erase_terminator|6|\\[E0316\\] .tensor\\.mul. ends a block of .func. that must end in .return.
changes|erase_used|5|\\[E1324\\] PASS tried to erase .tensor\\.constant. while .tensor\\.mul. uses its result
changes|erase_used_in_a_thread|5|\\[E1324\\] PASS tried to erase .tensor\\.constant. while .tensor\\.mul. uses its result
changes|erase_used_in_a_handler|5|\\[E1324\\] PASS tried to erase .tensor\\.constant. while .tensor\\.mul. uses its result
changes|move_behind_end|6|\\[E0315\\] .tensor\\.mul. uses %c, which is not defined before it
changes|move_into_itself|5|\\[E1324\\] PASS tried to move the function that it was given
changes|operand_far|5|\\[E1324\\] PASS tried to set operand 77 of .tensor\\.constant., which has 0
changes|circle|6|\\[E0315\\] .tensor\\.mul. uses %y, which is not defined before it
changes|replace_with_itself|0|
changes|replace_with_none|5|\\[E1324\\] PASS tried to replace a value by no value
changes|other_type|6|\\[E0210\\] .tensor\\.constant. has a result .result. of bool
changes|rank_of_a_million|5|\\[E1324\\] PASS asked for a type of rank 1000000; at most 8 is possible
changes|no_such_dtype|5|\\[E1324\\] PASS asked for a type with the element type 9999, which does not exist
changes|tile_below_zero|5|\\[E1324\\] PASS asked for a tile type of -5 x -9223372036854775808 elements in space 999 with layout 999
changes|kind_that_is_none|5|\\[E1323\\] PASS used 2147483647 as an op kind
changes|long_name|5|\\[E1324\\] PASS named a value \`n*\`, which is not a name: letters, digits and ._., at most 65536 bytes
changes|name_that_is_no_text|5|\\[E1324\\] PASS named a value \`a\`, which is not a name
changes|attribute_that_is_no_text|5|\\[E1324\\] PASS made an attribute of text that is not UTF-8
changes|divide_by_zero|5|\\[E1326\\] PASS failed without saying why
changes|status_that_is_none|5|\\[E1323\\] PASS returned 77, which is not a status here
changes|option_far|5|\\[E1323\\] PASS read option 99 of 1
changes|machine_of_nobody|5|\\[E1326\\] PASS failed without saying why
changes|diagnostic_without_text|5|\\[E1323\\] PASS gave a diagnostic the severity 99
changes|write_host_table|0|
changes|write_own_kinds|0|
changes|write_a_name|70|KILLED[0-9]* (.*)
END
echo "$rows plugins"
[ "$rows" -ge 60 ] || fail "too few"
