/* Files of the tree that are the same for every module. */
#ifndef TREE_FILES_H
#define TREE_FILES_H

#include <stddef.h>

typedef struct tree_file {
    const char *name; /* in the tree: "README.md" */
    const char *begin, *end;
} tree_file;

extern const tree_file tree_files[];    /* ends with a row without name */
extern const tree_file tree_cmake_file; /* goes after the lines that name the kernels */

#endif
