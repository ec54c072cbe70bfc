# SIGKILL at each call that makes, names or removes a file: the output is the old one or the new one, and nothing empty
# is beside it. A file that did not exist leaves nothing at all.
. "$TEST_ROOT/tests/shell.sh"

cat >kill.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
static void step(void)
{
    static int calls;
    const char *at = getenv("KILL_AT");
    if (at && ++calls == atoi(at)) raise(SIGKILL);
}
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
int mkstemp(char *p) { step(); int r = NEXT(mkstemp)(p); step(); return r; }
int unlink(const char *p) { step(); int r = NEXT(unlink)(p); step(); return r; }
int linkat(int a, const char *p, int b, const char *q, int f) { step(); int r = NEXT(linkat)(a, p, b, q, f); step(); return r; }
int rename(const char *p, const char *q) { step(); int r = NEXT(rename)(p, q); step(); return r; }
END
sed -i 's|#include <stdlib.h>|&\n#include <stdio.h>\n#include <unistd.h>|' kill.c
cc -shared -fPIC -o kill.so kill.c -ldl || fail "no shim"
# A library before the sanitizer hides roots from its search for leaks.
export ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0:${ASAN_OPTIONS:-}"
m=$TEST_ROOT/examples/softmax/softmax.ptir
pto-opt "$m" -o new.ptir || exit 1
echo old >old.ptir

ended=0
for at in 1 2 3 4 5 6 7 8 9 10; do
  for before in absent old.ptir; do
    mkdir run && { [ $before = absent ] || cp old.ptir run/o.ptir; }
    KILL_AT=$at LD_PRELOAD=$PWD/kill.so pto-opt "$m" --no-supervise -o run/o.ptir 2>/dev/null && ended=$((ended + 1))
    [ ! -e run/o.ptir ] || cmp -s run/o.ptir new.ptir || cmp -s run/o.ptir old.ptir || fail "$at, $before: a half output"
    for rest in run/*; do
      [ -e "$rest" ] || continue
      [ -s "$rest" ] || fail "$at, $before: $rest is empty"
      [ $before = old.ptir ] || [ "$rest" = run/o.ptir ] || fail "$at: $rest was left"
    done
    rm -r run
  done
done
# The shim saw all calls of a run that ends well, or the loop would have ended before it.
[ $ended -gt 0 ] && [ $ended -lt 20 ] || fail "$ended of 20 runs came to their end"
