# Pipelines and machines by a name without `.yaml`, wherever a name is allowed; and --insert-before.
set -e
. "$TEST_ROOT/tests/shell.sh"
m=$TEST_ROOT/examples/softmax/softmax.ptir
pto-opt "$m" --pipeline=default.yaml --machine=ascend-910b.yaml -o want
same() { "$@" -o got && cmp got want || fail "$*"; }
same pto-opt "$m" --pipeline=default --machine=ascend-910b
printf 'pto-pipeline: 1\nextends: default\nmachine: ascend-910b\n' >own.yaml
same pto-opt "$m" --pipeline=own.yaml
same pto-opt "$m" --pipeline=own
mkdir default ascend-910b # a folder is not a file
same pto-opt "$m" --pipeline=default --machine=ascend-910b
pto-opt "$m" --pipeline=own --compare=default >page
pto-run --case "$TEST_ROOT/examples/softmax/case.yaml" --pipeline=default >/dev/null
fails 2 '^error: \[E1501\] cannot open `nowhere`: No such file or directory$' pto-opt "$m" --pipeline=nowhere
grep -q '^note: sought in the current folder, .*/share/pto/pipelines$' text

# The same steps, whichever way the pass was put there.
steps() { pto-opt --pipeline=default --print-pipeline "$@" | sed -n 's/.*id: \([a-z0-9-]*\).*/\1/p'; }
steps >plain
[ "$(grep -n -x fuse plain | cut -d: -f1)" -gt 1 ]
before=$(sed -n '/^fuse$/q;p' plain | tail -n 1)
steps --insert-before=fuse=pto.canonicalize >before
steps "--insert-after=$before=pto.canonicalize" >after
cmp before after
[ "$(wc -l <before)" -eq $(($(wc -l <plain) + 1)) ]
fails 2 '^<command line>:1:1: error: \[E1109\]' pto-opt "$m" --pipeline=default --insert-before=nowhere=pto.canonicalize
# All steps are named, however many there are.
sed -n 's/.* note: legal: //p' text | tr -d '` ' | tr , '\n' | cmp - plain
# Help agrees with what happens.
pto-run --help | grep -q 'pipeline default.yaml unless another is named'
! pto-run --help | grep -q 'without it no passes'
