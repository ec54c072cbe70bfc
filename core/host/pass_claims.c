#include "core/host/pass_claims.h"

#include "core/core_diag.h"

#include <string.h>

typedef struct claim {
    const char *verb;              /* "establishes" */
    const char *const *properties; /* NULL-ended */
    const char *levels[2];         /* that they may be of; the second may be NULL */
} claim;

static bool is_of_level(const claim *c, const pto_property *p)
{
    return strcmp(p->level, c->levels[0]) == 0 || (c->levels[1] != NULL && strcmp(p->level, c->levels[1]) == 0);
}

static status check_claim(diag_engine *d, plugin_host *host, src_pos at, const char *plugin, const pto_pass *pass,
                          const claim *c)
{
    for (const char *const *id = c->properties; id != NULL && *id != NULL; id++) {
        if (!plugin_host_has(host, PLUGIN_PROPERTY, str_from(*id))) continue;
        const pto_property *p = plugin_host_property(host, at, str_from(*id), NULL);
        if (p == NULL) return FAILED;
        if (is_of_level(c, p)) continue;
        diag_error(d, at, &E1340,
                   "pass `%s` of plugin `%s` says that it %s %s, a property of %s; it goes from %s to %s", pass->id,
                   plugin, c->verb, *id, p->level, pass->consumes, pass->produces);
        return FAILED;
    }
    return OK;
}

status pass_check_claims(diag_engine *d, plugin_host *host, src_pos at, const char *plugin, const pto_pass *pass)
{
    const claim claims[] = {{"requires", pass->requires_props, {pass->consumes, NULL}},
                            {"establishes", pass->establishes, {pass->produces, NULL}},
                            {"breaks", pass->breaks, {pass->consumes, pass->produces}}};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) TRY(check_claim(d, host, at, plugin, pass, &claims[i]));
    return OK;
}
