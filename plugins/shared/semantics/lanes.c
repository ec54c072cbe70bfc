#include "semantics/lanes.h"

#include <math.h>

/* Equal numbers may be zeros of both signs: then the sign decides. The sum of two zeros is -0 only when both are. */
static inline float max_f32(float a, float b)
{
    const float larger = a > b ? a : b;
    const float equal = a == b && a == 0 ? a + b : larger;
    return a != a ? b : b != b ? a : equal;
}

static inline float min_f32(float a, float b)
{
    const float smaller = a < b ? a : b;
    const float equal = a == b && a == 0 ? -(-a - b) : smaller;
    return a != a ? b : b != b ? a : equal;
}

double lanes_rem(double a, double b)
{
    const double rest = fmod(a, b);
    if (rest == 0) return copysign(0, b);
    return (rest < 0) != (b < 0) && rest == rest ? rest + b : rest;
}

/* Computed in double, rounded when stored. */
static float double_f32(lane_op op, float a, float b)
{
    const double x = (double)a, y = (double)b;
    return (float)(op == LANE_REM ? lanes_rem(x, y) : op == LANE_FMOD ? fmod(x, y) : pow(x, y));
}

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O3"))) /* gcc 12 vectorises little at -O2 */
#endif
void
lanes_f32(lane_op op, size_t n, const float *a, const float *b, float *out)
{
    switch (op) {
    case LANE_ADD:
        for (size_t i = 0; i < n; i++) out[i] = a[i] + b[i];
        break;
    case LANE_SUB:
        for (size_t i = 0; i < n; i++) out[i] = a[i] - b[i];
        break;
    case LANE_MUL:
        for (size_t i = 0; i < n; i++) out[i] = a[i] * b[i];
        break;
    case LANE_DIV:
        for (size_t i = 0; i < n; i++) out[i] = a[i] / b[i];
        break;
    case LANE_MAX:
        for (size_t i = 0; i < n; i++) out[i] = max_f32(a[i], b[i]);
        break;
    case LANE_MIN:
        for (size_t i = 0; i < n; i++) out[i] = min_f32(a[i], b[i]);
        break;
    case LANE_LRELU:
        for (size_t i = 0; i < n; i++) out[i] = a[i] > 0 ? a[i] : a[i] * b[i];
        break;
    case LANE_REM:
    case LANE_FMOD:
    case LANE_POW:
        for (size_t i = 0; i < n; i++) out[i] = double_f32(op, a[i], b[i]);
        break;
    }
}

static int64_t div_i64(bool is_unsigned, int64_t a, int64_t b)
{
    if (b == 0) return -1;
    if (is_unsigned) return (int64_t)((uint64_t)a / (uint64_t)b);
    return b == -1 ? (int64_t)(-(uint64_t)a) : a / b;
}

static int64_t rest_i64(lane_op op, bool is_unsigned, int64_t a, int64_t b)
{
    if (b == 0) return -1;
    if (is_unsigned) return (int64_t)((uint64_t)a % (uint64_t)b);
    const int64_t rest = b == -1 ? 0 : a % b;
    return op == LANE_REM && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

uint64_t lanes_i64(lane_op op, bool is_unsigned, size_t n, const int64_t *a, const int64_t *b, int64_t *out)
{
    /* Exchanging the sign bit makes unsigned order signed. */
    const uint64_t flip = is_unsigned ? UINT64_C(1) << 63 : 0;
    uint64_t faults = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = (uint64_t)a[i], y = (uint64_t)b[i];
        const bool less = (int64_t)(x ^ flip) < (int64_t)(y ^ flip);
        switch (op) {
        case LANE_ADD: out[i] = (int64_t)(x + y); break;
        case LANE_SUB: out[i] = (int64_t)(x - y); break;
        case LANE_MUL: out[i] = (int64_t)(x * y); break;
        case LANE_DIV:
            faults += y == 0;
            out[i] = div_i64(is_unsigned, a[i], b[i]);
            break;
        case LANE_MAX: out[i] = (int64_t)(less ? y : x); break;
        case LANE_MIN: out[i] = (int64_t)(less ? x : y); break;
        case LANE_REM:
        case LANE_FMOD:
            faults += y == 0;
            out[i] = rest_i64(op, is_unsigned, a[i], b[i]);
            break;
        case LANE_POW:
        case LANE_LRELU: out[i] = 0; break;
        }
    }
    return faults;
}

void lanes_compare_f64(pto_relation r, size_t n, const double *a, const double *b, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        const bool is_ordered = a[i] <= b[i] || a[i] >= b[i];
        out[i] = is_ordered ? pto_relation_holds(r, (a[i] > b[i]) - (a[i] < b[i]), 0) != 0 : r == PTO_RELATION_NE;
    }
}

void lanes_compare_i64(pto_relation r, bool is_unsigned, size_t n, const int64_t *a, const int64_t *b, uint8_t *out)
{
    const uint64_t flip = is_unsigned ? UINT64_C(1) << 63 : 0;
    for (size_t i = 0; i < n; i++)
        out[i] = pto_relation_holds(r, (int64_t)((uint64_t)a[i] ^ flip), (int64_t)((uint64_t)b[i] ^ flip)) != 0;
}

int64_t lanes_shift(int64_t a, int64_t b, int width, bool is_unsigned, bool left)
{
    const bool is_beyond = (uint64_t)b >= (uint64_t)width;
    if (left) return is_beyond ? 0 : (int64_t)((uint64_t)a << b);
    if (is_unsigned) return is_beyond ? 0 : (int64_t)((uint64_t)a >> b);
    return a < 0 ? ~(~a >> (is_beyond ? 63 : b)) : a >> (is_beyond ? 63 : b);
}
