/* The inner loops of matrix products: a few rows of left times a panel of right. */
#ifndef PTO_SEMANTICS_MATMUL_PANEL_H
#define PTO_SEMANTICS_MATMUL_PANEL_H

#include <stddef.h>
#include <stdint.h>

enum { PANEL_ROWS = 4, PANEL_COLS = 64, PANEL_DEPTH = 256 };

typedef struct panel_f32 {
    size_t depth, cols; /* in use */
    float left[PANEL_ROWS][PANEL_DEPTH], right[PANEL_DEPTH][PANEL_COLS], acc[PANEL_ROWS][PANEL_COLS];
} panel_f32;

typedef struct panel_i32 {
    size_t depth, cols;
    int32_t left[PANEL_ROWS][PANEL_DEPTH], right[PANEL_DEPTH][PANEL_COLS], acc[PANEL_ROWS][PANEL_COLS];
} panel_i32;

/* acc[i][j] = fma(left[i][k], right[k][j], acc[i][j]) for k ascending below depth; columns beyond cols may be computed
 * as well. cpu: features of insn_cpu(); the bits of the result do not depend on it. */
void matmul_panel_f32(uint32_t cpu, panel_f32 *p);
/* The same modulo 2^32. */
void matmul_panel_i32(panel_i32 *p);

#endif
