#include "kernel_products.h"
#include "kernel_weights.h"

static const struct {
    pto_dtype type, sums;
} types[PTO_PRODUCT_COUNT] = {
    [PTO_PRODUCT_F32] = {PTO_F32, PTO_F32},
    [PTO_PRODUCT_F16] = {PTO_F16, PTO_F32},
    [PTO_PRODUCT_BF16] = {PTO_BF16, PTO_F32},
    [PTO_PRODUCT_I8] = {PTO_I8, PTO_I32},
};

void pto_products_fill(uint32_t isa, pto_product_table *out)
{
    for (int i = 0; i < PTO_PRODUCT_COUNT; i++) {
        const pto_contraction *row = pto_contraction_find(types[i].type, types[i].type, types[i].sums, isa);
        out->list[i] = row != NULL ? &out->rows[i] : NULL;
        if (row == NULL) continue;
        out->rows[i] = (pto_native_product){
            .struct_size = sizeof out->rows[i],
            .scratch_most = row->scratch_most,
            .block = row->block,
            .panels = row->panels,
            .panels_scratch = row->panels_scratch,
            .packed_bytes = row->packed_bytes,
            .pack = row->pack,
            .packed = row->packed,
            .packed_rows = row->packed_rows,
            .few_columns = row->few_columns,
            .few_rows = row->few_rows,
            .few_bytes = row->few_bytes,
            .few_pack = row->few_pack,
        };
        if (row->panels_beyond == NULL) continue;
        out->beyond[i] = out->rows[i];
        out->beyond[i].panels = row->panels_beyond;
        out->rows[i].beyond = &out->beyond[i];
    }
    const pto_weights *const weights = pto_weights_find(isa);
    out->rows[PTO_PRODUCT_F32].weights_scratch = weights->scratch_most;
    out->rows[PTO_PRODUCT_F32].weights = weights->block;
}
