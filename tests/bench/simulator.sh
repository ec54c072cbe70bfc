# PTO instructions that cpu-sim simulates in a second, timing without data. $1: the build folder.
exec /usr/bin/python3 "$(dirname "$0")/simulator.py" "$1"
