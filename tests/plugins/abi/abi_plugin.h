/* A plugin with one pass that does nothing. Files that include it set the version macros of <pto/abi.h> before. */
#ifndef ABI_PLUGIN_H
#define ABI_PLUGIN_H

#include <pto/plugin.h>

static pto_status abi_run(const pto_run *run, pto_op unit)
{
    (void)run;
    (void)unit;
    return PTO_OK;
}

#define ABI_PLUGIN(id_) ABI_PLUGIN_WITH(id_, NULL)
#define ABI_PLUGIN_WITH(id_, options_)                                            \
    static const pto_pass abi_pass = {.struct_size = sizeof abi_pass,             \
                                      .id = id_,                                  \
                                      .summary = "Do nothing",                    \
                                      .scope = "function",                        \
                                      .consumes = "tensor/1",                     \
                                      .produces = "tensor/1",                     \
                                      .options = options_,                        \
                                      .run = abi_run};                            \
    PTO_PLUGIN(id_, "pass:" id_, "", .version = "1.0.0", .license = "Apache-2.0", \
               .passes = PTO_LIST(pto_pass, &abi_pass))

#endif
