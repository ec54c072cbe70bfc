/* Whether a file can be handed to dlopen, which trusts what it reads. */
#ifndef PTO_NATIVE_IMAGE_H
#define PTO_NATIVE_IMAGE_H

#include "native_error.h"

/* Whether the file that is open as `fd` is a shared object whose headers, segments, sections and dynamic tables lie
 * within it: of one that was cut short pages are missing, and touching them ends the process. What is in the tables is
 * not looked at. NATIVE_NOT_LOADED: the sentence is what is wrong with it: "it is not a file". [any thread] */
native_status native_image_check(int fd, native_error *e);

/* Opens `name` of an open folder and checks it. It waits for nothing and follows no link. `*fd` is at the beginning and
 * to be closed by the caller, or -1. */
native_status native_image_open(int folder, const char *name, int *fd, native_error *e);

/* Loads a file that was checked, which must have `symbol`, or anything when that is NULL. `*library` is for dlsym and
 * dlclose. NATIVE_NOT_LOADED, with a sentence as above. */
native_status native_image_load(const char *path, const char *symbol, void **library, native_error *e);

#endif
