/* plugin-probe MINOR draft|final FILE PASS: asks a plugin host of ABI 1.MINOR, which knows nothing but FILE, for a
 * pass. Exit status 0: it is there; 3: refused, with the reason on stderr. Shows what a core of another version says.
 */
#include "core/host/plugin_host.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: plugin-probe MINOR draft|final FILE PASS\n");
        return 2;
    }
    arena *a = arena_create("probe");
    diag_engine *d = diag_create(stderr, 0);
    const char *const files[] = {argv[3], NULL};
    plugin_host_params params = plugin_host_defaults();
    params.abi_minor = (uint32_t)strtoul(argv[1], NULL, 10);
    params.draft = strcmp(argv[2], "draft") == 0;
    params.only_given = true;
    params.files = files;
    plugin_host *h = NULL;
    const bool found =
        plugin_host_create(a, d, &params, &h) == OK && plugin_host_pass(h, NO_POS, str_from(argv[4]), NULL) != NULL;
    if (found) printf("plugin with pass '%s' accepted\n", argv[4]);
    diag_destroy(d);
    arena_destroy(a);
    return found ? 0 : 3;
}
