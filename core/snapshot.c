#include "core/snapshot.h"

#include "core/core_diag.h"
#include "core/file.h"
#include "ir/printer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

status snapshot_write(diag_engine *d, module *m, const char *folder, uint32_t number, const char *step)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        diag_error(d, (src_pos){folder, 0, 0}, &E1501, "cannot create the folder: %s", strerror(errno));
        return FAILED;
    }
    text_buffer path, text;
    text_init(&path);
    text_init(&text);
    text_printf(&path, "%s/%02u-%s.ptir", folder, number, step);
    module_print(m, &(print_options){0}, &text);
    file_writer w;
    status s = file_writer_open(&w, d, path.p);
    if (s == OK) {
        file_writer_put(&w, text.p, text.n);
        s = file_writer_commit(&w);
    }
    text_fini(&path);
    text_fini(&text);
    return s;
}

void snapshot_print(module *m, const char *step)
{
    text_buffer text;
    text_init(&text);
    text_printf(&text, "// after step %s\n", step);
    module_print(m, &(print_options){0}, &text);
    if (text.n > 0) fwrite(text.p, 1, text.n, stderr);
    text_fini(&text);
}
