#include "semantics/matmul_panel.h"

#include "semantics/insn_semantics.h"

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>

/* Sixteen columns at a time: eight accumulators of eight lanes, each lane one output with its own chain over k. */
__attribute__((target("avx2,fma"))) static void panel_f32_fma(panel_f32 *p)
{
    for (size_t j = 0; j < p->cols; j += 16) {
        __m256 sum[PANEL_ROWS][2];
        for (int i = 0; i < PANEL_ROWS; i++) {
            sum[i][0] = _mm256_loadu_ps(&p->acc[i][j]);
            sum[i][1] = _mm256_loadu_ps(&p->acc[i][j + 8]);
        }
        for (size_t k = 0; k < p->depth; k++) {
            const __m256 low = _mm256_loadu_ps(&p->right[k][j]), high = _mm256_loadu_ps(&p->right[k][j + 8]);
#pragma GCC unroll 4
            for (int i = 0; i < PANEL_ROWS; i++) {
                const __m256 l = _mm256_broadcast_ss(&p->left[i][k]);
                sum[i][0] = _mm256_fmadd_ps(l, low, sum[i][0]);
                sum[i][1] = _mm256_fmadd_ps(l, high, sum[i][1]);
            }
        }
        for (int i = 0; i < PANEL_ROWS; i++) {
            _mm256_storeu_ps(&p->acc[i][j], sum[i][0]);
            _mm256_storeu_ps(&p->acc[i][j + 8], sum[i][1]);
        }
    }
}
#endif

void matmul_panel_f32(uint32_t cpu, panel_f32 *p)
{
#if defined(__x86_64__)
    if (cpu & INSN_CPU_FMA) {
        panel_f32_fma(p);
        return;
    }
#endif
    (void)cpu;
    for (int i = 0; i < PANEL_ROWS; i++) {
        for (size_t k = 0; k < p->depth; k++) {
            for (size_t j = 0; j < p->cols; j++) p->acc[i][j] = fmaf(p->left[i][k], p->right[k][j], p->acc[i][j]);
        }
    }
}

void matmul_panel_i32(panel_i32 *p)
{
    for (int i = 0; i < PANEL_ROWS; i++) {
        for (size_t k = 0; k < p->depth; k++) {
            const uint32_t l = (uint32_t)p->left[i][k];
            for (size_t j = 0; j < p->cols; j++)
                p->acc[i][j] = (int32_t)((uint32_t)p->acc[i][j] + l * (uint32_t)p->right[k][j]);
        }
    }
}
