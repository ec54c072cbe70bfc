# Random programs that have acme.squared_distance among the ops of the language, on both pipelines, against numpy.
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --random 8 --seed 5 --opset "$TEST_PLUGINS/acme-opset.so" --keep . >out || fail
says '^8 forms, 1[0-9] runs right, 0 wrong$' out
