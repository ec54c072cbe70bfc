#include "tools/run/call_value.h"

#include "ir/context/float_format.h"
#include "tools/base/tool_diag.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Decimal digits that reach beyond what int64_t holds. */
static bool read_u64(const char *text, uint64_t *out)
{
    uint64_t v = 0;
    if (*text == '\0') return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(v, UINT64_C(10), &v) ||
            __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
            return false;
    }
    *out = v;
    return true;
}

bool call_value_is_text(const char *text)
{
    int64_t i;
    double f;
    return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || str_to_i64(str_from(text), &i) == OK ||
           str_to_f64(str_from(text), &f) == OK;
}

static status fail(diag_engine *d, src_pos at, str name, dtype type, const char *text, const char *wants)
{
    diag_error(d, at, &E1609, "`%.*s` is of type %s, which `%s` does not fit: it takes %s", (int)name.n, name.p,
               dtype_name(type), text, wants);
    return FAILED;
}

static status read_bool(diag_engine *d, src_pos at, str name, const char *text, uint64_t *bits)
{
    *bits = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (*bits || strcmp(text, "false") == 0 || strcmp(text, "0") == 0) return OK;
    return fail(d, at, name, DTYPE_BOOL, text, "true, false, 1 or 0");
}

static status read_integer(diag_engine *d, src_pos at, str name, dtype type, const char *text, uint64_t *bits)
{
    char wants[80];
    const bool is_unsigned = dtype_class_of(type) == DTYPE_CLASS_UINT;
    const uint32_t width = 8 * dtype_bytes(type);
    const uint64_t largest = UINT64_MAX >> (64 - width + !is_unsigned);
    int64_t v = 0;
    bool fits = str_to_i64(str_from(text), &v) == OK;
    *bits = (uint64_t)v;
    if (fits) {
        fits = v < 0 ? !is_unsigned && v >= -(int64_t)largest - 1 : *bits <= largest;
    } else {
        fits = is_unsigned && read_u64(text, bits) && *bits <= largest;
    }
    if (fits) return OK;
    if (is_unsigned)
        snprintf(wants, sizeof wants, "whole numbers from 0 to %" PRIu64, largest);
    else
        snprintf(wants, sizeof wants, "whole numbers from %" PRId64 " to %" PRIu64, -(int64_t)largest - 1, largest);
    return fail(d, at, name, type, text, wants);
}

static status read_float(diag_engine *d, src_pos at, str name, dtype type, const char *text, uint64_t *bits)
{
    double v;
    char wants[80];
    snprintf(wants, sizeof wants, "numbers of magnitude up to %.9g", float_largest(type));
    if (str_to_f64(str_from(text), &v) != OK) return fail(d, at, name, type, text, wants);
    const uint32_t encoded = float_encode(type, v, ROUND_RINT, false);
    *bits = encoded;
    const double back = float_decode(type, encoded);
    /* A format without infinity, sign or NaN takes none either. */
    const bool fits = isnan(v) ? isnan(back) : isinf(v) ? back == v : isfinite(back) && (v >= 0 || back <= 0);
    return fits ? OK : fail(d, at, name, type, text, wants);
}

status call_value_read(diag_engine *d, src_pos at, str name, dtype type, const char *text, uint8_t *out)
{
    uint64_t bits = 0;
    switch (dtype_class_of(type)) {
    case DTYPE_CLASS_FLOAT: TRY(read_float(d, at, name, type, text, &bits)); break;
    case DTYPE_CLASS_BOOL: TRY(read_bool(d, at, name, text, &bits)); break;
    case DTYPE_CLASS_SINT:
    case DTYPE_CLASS_UINT:
    case DTYPE_CLASS_INDEX: TRY(read_integer(d, at, name, type, text, &bits)); break;
    default: return fail(d, at, name, type, text, "no value that can be written down");
    }
    memcpy(out, &bits, dtype_bytes(type));
    return OK;
}
