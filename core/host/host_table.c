/* The tables that plugins call: host_<name> for each row of <pto/host.def>; a row without one does not link. */
#include "core/host/host_handle.h"

/* clang-format off */
#define SLOT(name) .name = host_##name,
#define HOST(returns, name, parameters, arguments, doc) SLOT(name)
pto_host host_table(uint32_t abi_minor)
{
    return (pto_host){
        .struct_size = sizeof(pto_host), .abi_minor = abi_minor,
#include <pto/host.def>
    };
}

static const pto_tiling_host tiling_host = {
    .struct_size = sizeof tiling_host,
#define HOST_TILING(returns, name, parameters, arguments, doc) SLOT(name)
#include <pto/host.def>
};
static const pto_schedule_host schedule_host = {
    .struct_size = sizeof schedule_host,
#define HOST_SCHEDULE(returns, name, parameters, arguments, doc) SLOT(name)
#include <pto/host.def>
};
/* clang-format on */

pto_status host_extension(const pto_run *run, pto_str id, const void **table)
{
    (void)run;
    const str name = str_of(id);
    *table = str_is(name, PTO_TILING_HOST)     ? (const void *)&tiling_host
             : str_is(name, PTO_SCHEDULE_HOST) ? (const void *)&schedule_host
                                               : NULL;
    return *table != NULL ? PTO_OK : PTO_FAILED;
}
