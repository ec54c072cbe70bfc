/* A plugin with one function-scope pass at tensor level, which breaks a rule. Files define `static pto_status run(...)`
 * first. */
#ifndef LIAR_H
#define LIAR_H

#include <pto/plugin.h>

#define LIAR(id_)                                                                 \
    static const pto_pass liar_pass = {.struct_size = sizeof liar_pass,           \
                                       .id = id_,                                 \
                                       .summary = "Break a rule",                 \
                                       .scope = "function",                       \
                                       .consumes = "tensor/1",                    \
                                       .produces = "tensor/1",                    \
                                       .run = run};                               \
    PTO_PLUGIN(id_, "pass:" id_, "", .version = "1.0.0", .license = "Apache-2.0", \
               .passes = PTO_LIST(pto_pass, &liar_pass))

#endif
