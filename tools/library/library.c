#include "tools/library/library.h"

#include "core/core_diag.h"
#include "core/host/process_state.h"
#include "core/program_path.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"
#include "tools/run/call_init.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#ifndef PTO_VERSION
#define PTO_VERSION "0.1.0"
#endif

const char *library_version(void) { return PTO_VERSION; }

const char *library_prefix(arena *a)
{
    Dl_info of;
    struct link_map *map = NULL;
    char path[PATH_MAX];
    const char *(*own)(arena *) = library_prefix;
    void *address;
    memcpy(&address, &own, sizeof address);
    /* The executable is the object without a name. */
    if (dladdr1(address, &of, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL || map->l_name[0] == '\0')
        return program_prefix(a);
    if (realpath(map->l_name, path) == NULL) return NULL;
    size_t n = strlen(path);
    for (int slashes = 0; n > 0; n--)
        if (path[n - 1] == '/' && ++slashes == 2) return arena_strndup(a, path, n - 1);
    return NULL;
}

exit_status library_open_pipeline(arena *a, diag_engine *d, plugin_host *host, const pipeline *p, const char *backend,
                                  flight_recorder *recorder, loaded_pipeline *out)
{
    process_divert_output(recorder);
    const exit_status opened = pipeline_load(a, d, host, p, backend, out);
    process_restore_output(recorder);
    return opened;
}

status library_declare_names(ir_context *c, const loaded_pipeline *p)
{
    return p->machine != NULL ? role_names_add_all(context_names(c), context_diags(c), p->machine->names) : OK;
}

status library_parse(ir_context *c, const char *path, const str *text, module **out)
{
    return text != NULL ? parse_module(c, *text, path, out) : parse_file(c, path, out);
}

status library_check_functions(module *m)
{
    if (block_first(m, module_top(m)) != 0) return OK;
    const ir_context *c = module_context(m);
    diag_error(context_diags(c), (src_pos){string_of(c, module_file(m)).p, 0, 0}, &E1701, "the module has no function");
    return FAILED;
}

status library_verify(module *m)
{
    diag_engine *d = context_diags(module_context(m));
    diag_show_paths(d, false);
    TRY(module_verify(m));
    TRY(call_init_check(m));
    diag_show_paths(d, true);
    return OK;
}
