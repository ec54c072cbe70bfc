# The scripts of tests/style see what they are there for: each rule is broken once in a small tree.
. "$TEST_ROOT/tests/shell.sh"
# No binary of this tree runs.
! is_sanitized || exit 0
failures=0
style=$TEST_ROOT/tests/style

# clean SCRIPT, caught SCRIPT TEXT: what a script says about the tree in the current folder.
clean() {
  out=$(sh "$style/$1" build 2>&1) && return
  echo "$1 finds fault with a clean tree: $out"
  failures=$((failures + 1))
}
caught() {
  if out=$(sh "$style/$1" build 2>&1); then
    echo "$1 did not see: $2"
    failures=$((failures + 1))
    return
  fi
  case $out in
  *"$2"*) ;;
  *) echo "$1: wanted '$2', got: $out"; failures=$((failures + 1)) ;;
  esac
}

mkdir -p ir/base core/host tools/run plugins/passes/tensor plugins/backends/toy sdk/include/pto tests
for folder in ir ir/base core core/host tools tools/run plugins plugins/passes plugins/backends plugins/backends/toy sdk tests; do
  echo "What lives here." >"$folder/README.md"
done
echo '#include "ir/base/arena.h"' >ir/base/arena.c
echo '#include <pto/plugin.h>' >plugins/passes/tensor/fold.c
printf '#include "toy.h"\n#include "semantics/eval.h"\n' >plugins/backends/toy/toy_backend.c
clean layering.sh
clean sizes.sh
clean docs.sh
clean folders.sh

for i in $(seq 39); do echo x >core/host/f_$i.h; done && clean folders.sh
mkdir core/host/deep && echo x >core/host/deep/f.h && caught folders.sh "core/host has 41 entries" && rm -r core/host/deep core/host/f_*.h
echo '#include "core/file.h"' >ir/up.c && caught layering.sh "ir/up.c:1" && rm ir/up.c
echo '#include <pto/abi.h>' >ir/up.c && caught layering.sh "ir/up.c:1" && rm ir/up.c
echo '#include "core/host/run.h"' >core/up.c && caught layering.sh "core/ may include: core ir/base" && rm core/up.c
echo '#include "tools/run/run_case.h"' >core/host/up.c && caught layering.sh "core/host/up.c:1" && rm core/host/up.c
echo '# include "../../../ir/base/arena.h"' >plugins/passes/tensor/sly.c && caught layering.sh sly.c:1 && rm plugins/passes/tensor/sly.c
echo '#include "../native/x.h"' >plugins/backends/toy/sly.c && caught layering.sh sly.c:1 && rm plugins/backends/toy/sly.c
echo '#include "ir/x.h"' >sdk/include/pto/sly.h && caught layering.sh sly.h:1 && rm sdk/include/pto/sly.h
touch core/arena.c && caught layering.sh "two files are called arena.c" && rm core/arena.c
touch core/string_utils.c && caught layering.sh "string_utils.c" && rm core/string_utils.c

echo 'PTO_PLUGIN("pto.fold", "pass:pto.fold", "");' >>plugins/passes/tensor/fold.c && echo 'int main(void) { return 0; }' >tools/pto-run.c
echo '/* pto.folds, acme.fold, pto-runs */' >core/names.c && clean core-names.sh
echo 'fail("pto.fold/too-deep");' >core/names.c && caught core-names.sh "core/names.c:1"
echo '/* as pto-run does */' >core/names.c && caught core-names.sh "core/names.c:1" && rm tools/pto-run.c
echo 'if (--n > 0 && --s->left == 0) note("none -- at all");' >core/names.c && clean core-names.sh
echo 'note("it has none; --set makes one");' >core/names.c && caught core-names.sh "core/names.c:1"
printf '/* for options and\n * --set */\n' >core/names.c && caught core-names.sh "core/names.c:2" && rm core/names.c

{ echo 'int f(void)'; echo '{'; seq -f '    g%g();' 90; echo '    return 0;'; echo '}'; } >core/long.c
caught sizes.sh "core/long.c: f:"
seq -f '/* %g */' 801 >core/long.c && caught sizes.sh "core/long.c: -:" && rm core/long.c
for i in $(seq 16); do seq -f '/* %g */' 790 >core/part_$i.c; done && caught sizes.sh "core/ has 12640 lines" && rm core/part_*.c

printf '/* ---- lists ---- */\nint length(const struct list *l);\n' >core/list.h && caught documented.sh "core/list.h:2: \`length\`"
printf '/* Both ends. */\nint first(void);\nint last(void);\n' >core/list.h && clean documented.sh
printf '/* One end. */\nint first(void);\n\nstatic inline int last(void)\n{\n    return 0;\n}\n' >core/list.h && caught documented.sh "core/list.h:4: \`last\`"
rm core/list.h && printf 'typedef struct pto_list {\n    int n;\n} pto_list;\n' >sdk/include/pto/list.h && caught documented.sh "list.h:1: \`pto_list\`" && rm sdk/include/pto/list.h

echo 'DIAG(E1001, "a thing is not what it must be")' >core/diag.def && caught diagnostics.sh "E1001: no test triggers it"
echo '# CHECK: error: [E1001] {{.*}} odd' >tests/odd.yaml && caught diagnostics.sh "E1001: no test reads its text"
echo '# CHECK: error: [E1001] {{.*}} is not even' >tests/odd.yaml && caught diagnostics.sh "core/diag.def: nothing in core/ reports E1001"
echo 'fail(&E1001);' >core/odd.c && clean diagnostics.sh
echo 'fail("pto.fold/too-deep");' >plugins/passes/tensor/deep.c && caught diagnostics.sh "pto.fold/too-deep: no test triggers it"
rm core/diag.def core/odd.c tests/odd.yaml plugins/passes/tensor/deep.c

mkdir -p ir/ops && echo 'OP(F, "f", .attrs = {{"mode", SPEC_INT}, {"soon", SPEC_BOOL, .def = "false", .hint = 1}})' >ir/ops/a.def
caught attributes.sh "the attribute 'mode' of ir/ops/a.def"
echo 'int f(void) { return read("mode"); }' >core/mode.c && clean attributes.sh && rm -r core/mode.c ir/ops

echo 'PTO_PLUGIN("pto.fold", "pass:pto.fold", "");' >plugins/passes/tensor/fold.c && caught docs.sh "fold.c: its head does not say"
echo '/* Requires an op. Leaves it. */' >plugins/passes/tensor/fold.c && clean docs.sh
rm core/README.md && caught docs.sh "core has no README.md" && echo x >core/README.md
mkdir -p plugins/shared/x && echo x >plugins/shared/x/x.c && caught docs.sh "plugins/shared/x has no README.md"
echo x >plugins/shared/x/README.md
seq -s' ' 60 >core/README.md && caught docs.sh "./core/README.md:1: 170 columns" && echo x >core/README.md
seq 11 >core/README.md && caught docs.sh "11 lines" && echo x >core/README.md

clean sources.sh
echo '/* see core/gone.h and arena.h */' >core/cites.c && caught sources.sh 'core/cites.c:1: cites `core/gone.h`' && rm core/cites.c
echo '# as gone_too.c does' >core/cites.sh && caught sources.sh 'core/cites.sh:1: cites `gone_too.c`' && rm core/cites.sh
mkdir -p pipelines/machines docs && echo '| [isa] | a | b |' >docs/sources.md
echo 'a: 1 # [isa] [own]' >pipelines/machines/m.yaml && caught sources.sh "m.yaml:1: [own]" && rm -r pipelines docs

clean words.sh
said() { # TEXT LINE: a file of core/ with this line
  echo "$2" >core/said.c && caught words.sh "core/said.c:1: $1" && rm core/said.c
}
said '`is no`' '/* a pass is no tool */'
said '`behind`' 'int f(void); /* behind the first */'
said '`gives`' 'fail("it gives two");'
said '`who`' '// who calls it'
said '`room`' '/* room for more */'
said '`room`' 'fail("pto.x/no-room");'
said '`wants`' 'fail("it wants two");'
said "'%s'" "fail(\"no pass '%s'\");"
printf '/* a pass is\n * no tool */\n' >core/said.c && caught words.sh 'core/said.c:1: `is * no`' && rm core/said.c
echo '/* there is no pass; it is no longer here: `who` and `room` are names */' >core/said.c && clean words.sh && rm core/said.c
echo 'A page, which gives more.' >core/README.md && caught words.sh 'core/README.md:1: `gives`' && echo x >core/README.md
echo "# $(seq -s' ' 60)" >core/wide.sh && caught words.sh "core/wide.sh:1: a comment of 172 columns" && rm core/wide.sh

# What is built: a tree with one object of each kind, as CMake lays it out.
mkdir -p build/ir/CMakeFiles/pto_ir_base.dir/base build/core/CMakeFiles/pto_base.dir build/lib/pto/plugins-1
compile() { # OBJECT-FOLDER SOURCE
  cc -c -w -fPIC "$2" -o "build/$1/$(basename "$2").o"
}
plugin() { # NAME: from standard input
  cc -w -shared -fPIC -fvisibility=hidden -x c - -o "build/lib/pto/plugins-1/$1.so"
}
entry='__attribute__((visibility("default"))) const void *pto_plugin_entry_v1(void)'
mkdir -p scripts && cp "$style/symbols.sh" scripts/ && echo 'ir/base/arena.c the arena' >scripts/heap-users.txt
style=$PWD/scripts
echo 'void *malloc(unsigned long); void *get(void) { return malloc(1); }' >ir/base/arena.c
echo 'int core_thing; int core_f(void) { return 0; }' >core/file.c
compile ir/CMakeFiles/pto_ir_base.dir/base ir/base/arena.c
compile core/CMakeFiles/pto_base.dir core/file.c
ar rc build/core/libpto_base.a build/core/CMakeFiles/pto_base.dir/file.c.o
ar rc build/ir/libpto_ir_base.a build/ir/CMakeFiles/pto_ir_base.dir/base/arena.c.o
echo "$entry { static const char *const id[] = {\"a\", \"b\"}; return id; }" | plugin fold
caught symbols.sh "1 plugins are built, plugins/ has 2"
cp build/lib/pto/plugins-1/fold.so build/lib/pto/plugins-1/toy.so
clean symbols.sh

echo "$entry { return 0; } __attribute__((visibility(\"default\"))) int more;" | plugin toy && caught symbols.sh "toy.so exports: more"
echo "int host_f(void); $entry { return (void *)(long)host_f(); }" | plugin toy && caught symbols.sh "toy.so needs: host_f"
echo "static int n; $entry { return (void *)(long)n++; }" | plugin toy && caught symbols.sh "writable static data: n"
cp build/lib/pto/plugins-1/fold.so build/lib/pto/plugins-1/toy.so
echo 'char *strcpy(char *, const char *); void f(char *a, const char *b) { strcpy(a, b); }' >core/file.c
compile core/CMakeFiles/pto_base.dir core/file.c && caught symbols.sh "core/file.c strcpy"
echo 'void free(void *); void f(void *a) { free(a); }' >core/file.c
compile core/CMakeFiles/pto_base.dir core/file.c && caught symbols.sh "core/file.c uses the heap"
echo 'int core_f(void) { return 0; }' >core/file.c && compile core/CMakeFiles/pto_base.dir core/file.c
echo 'int core_f(void); void *malloc(unsigned long); void *get(void) { return malloc(core_f()); }' >ir/base/arena.c
compile ir/CMakeFiles/pto_ir_base.dir/base ir/base/arena.c && ar rc build/ir/libpto_ir_base.a build/ir/CMakeFiles/pto_ir_base.dir/base/arena.c.o
caught symbols.sh "ir/libpto_ir_base needs core_f of core/libpto_base"
[ "$failures" -eq 0 ]
