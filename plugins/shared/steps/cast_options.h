/* Options of casts that passes make: the verifier refuses those without an effect. */
#ifndef CAST_OPTIONS_H
#define CAST_OPTIONS_H

#include <pto/plugin.h>

/* Puts `mode` (empty: none) and `saturate` where a cast between the types rounds, or has numbers out of range. */
void cast_put_options(pto_spec *cast, pto_dtype from, pto_dtype to, pto_str mode, int saturate);
/* The same with those of another cast. */
void cast_put_options_of(pto_spec *cast, pto_dtype from, pto_dtype to, pto_op other);

#endif
