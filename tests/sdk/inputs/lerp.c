
pto_status insn_TLERP(insn_call *call)
{
    const tile_ref *t = &call->dst, *a = &call->src[0], *b = &call->src[1], *w = &call->src[2];
    INSN_TRY(insn_begin(call, 3, 3));
    for (int64_t r = 0; r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols; c += LANES) {
            const size_t n = piece_at(t->valid_cols, c);
            float x[LANES], y[LANES], z[LANES];
            tile_read_f32(a, r, c, n, x);
            tile_read_f32(b, r, c, n, y);
            tile_read_f32(w, 0, c, n, z);
            for (size_t i = 0; i < n; i++) x[i] += (y[i] - x[i]) * z[i];
            tile_write_f32(t, r, c, n, x);
        }
    }
    return PTO_OK;
}
