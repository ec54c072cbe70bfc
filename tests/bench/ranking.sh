# How good the first offer of the tiling strategy is: cycles of it and of the best of all offers, on 40 shapes of 8
# kernels. $1: the build folder; further arguments as ranking.py says.
exec /usr/bin/python3 "$(dirname "$0")/ranking.py" "$@"
