# Files and options of schedules that are refused, and a schedule that pins nothing.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/schedule/inputs/pins.sh"
ends 74 $compile "$softmax" --emit-schedule=no-such-folder/s.yaml
ends 2 $compile "$softmax" --schedule=no-such-file.yaml
says 'error: \[E1501\] cannot open `no-such-file.yaml`: No such file or directory'
ends 2 pto-opt "$softmax" --emit-schedule=s.yaml
says 'option `--emit-schedule` has no effect without --pipeline or --passes'
ends 2 pto-opt "$softmax" --schedule=p.yaml
says 'option `--schedule` has no effect without --pipeline or --passes'
ends 2 $compile "$softmax" --explain=scedule
says 'option `--explain` needs pipeline or schedule, not `scedule`'
printf 'pto-schedule: 1\ndecisions: []\n' >p.yaml
ends 0 $compile "$softmax" --schedule=p.yaml
says 'p.yaml:2:12: warning: \[E1801\] none of the 0 decisions is `pinned: true`, so all are made anew'
