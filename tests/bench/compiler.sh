# Parsing, verifying, printing, CSE, canonicalizing, memory and start-up beside mlir-opt-19. $1: the build folder.
exec /usr/bin/python3 "$(dirname "$0")/compiler.py" "$1"
