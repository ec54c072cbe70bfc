/* Files of the tree that are the same for every module, as they are in the folder tree/. */
#include "tree_files.h"

#define TREE_EMBED(symbol, file)                                                                       \
    __asm__(".pushsection .rodata\n" #symbol "_begin:\n.incbin \"" TREE_FOLDER "/" file "\"\n" #symbol \
            "_end:\n.byte 0\n.popsection\n");                                                          \
    extern const char symbol##_begin[] __attribute__((visibility("hidden")));                          \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

TREE_EMBED(tree_kernel_h, "kernel.h.in");
TREE_EMBED(tree_runtime_h, "runtime.h.in");
TREE_EMBED(tree_run_cpp, "run.cpp.in");
TREE_EMBED(tree_cmake, "CMakeLists.txt.in");
TREE_EMBED(tree_stdfloat, "stdfloat.in");
TREE_EMBED(tree_bfloat16, "bfloat16.cpp.in");

const tree_file tree_files[] = {
    {"kernel.h", tree_kernel_h_begin, tree_kernel_h_end},
    {"runtime.h", tree_runtime_h_begin, tree_runtime_h_end},
    {"run.cpp", tree_run_cpp_begin, tree_run_cpp_end},
    {"cpu_stdfloat.h", tree_stdfloat_begin, tree_stdfloat_end},
    {"cpu_bfloat16.cpp", tree_bfloat16_begin, tree_bfloat16_end},
    {NULL, NULL, NULL},
};
const tree_file tree_cmake_file = {"CMakeLists.txt", tree_cmake_begin, tree_cmake_end};
