/* The rules that rows of ops/<level>.def name in `.infer` and `.verify`. Contracts: op_info.h, infer_rule and
 * verify_rule. Infer rules are in infer_*.c, verify rules in verify_ops.c. */
#ifndef IR_OP_RULES_H
#define IR_OP_RULES_H

#include "ir/op_info.h"

/* The types of the results, from operands and attributes. Fail after a diagnostic at the op. */
MUST_CHECK status infer_along_axis(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_argsort(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_argument(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_attention(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_assemble(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_broadcast(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_cast(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_concat(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_conv2d(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_cross_entropy(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_dequantize(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_elementwise(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_flip(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_full(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_gather(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_group_norm(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_index_add(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_index_put(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_iota(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_layer_norm(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_matmul(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_one_hot(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_pack(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_pad(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_quantize(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_quantize_block(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_reduce(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_reshape(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_bitcast(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_rms_norm(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_rope(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_scaled_matmul(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_scatter(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_scatter_update(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_softmax(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_split(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_squeeze(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_take(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_topk(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_transpose(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_unpack(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_unsqueeze(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_view(module *m, uint32_t op, type_id *out);
MUST_CHECK status infer_triangle(module *m, uint32_t op, type_id *out);

/* What else must hold of an op whose operands and attributes fit its row. Fail after a diagnostic at the op. */
MUST_CHECK status verify_bind(module *m, uint32_t op);
MUST_CHECK status verify_block_tile(module *m, uint32_t op);
MUST_CHECK status verify_buffer(module *m, uint32_t op);
MUST_CHECK status verify_call(module *m, uint32_t op);
MUST_CHECK status verify_compare(module *m, uint32_t op);
MUST_CHECK status verify_constant(module *m, uint32_t op);
MUST_CHECK status verify_debug(module *m, uint32_t op);
MUST_CHECK status verify_flag(module *m, uint32_t op);
MUST_CHECK status verify_for(module *m, uint32_t op);
MUST_CHECK status verify_forall(module *m, uint32_t op);
MUST_CHECK status verify_free(module *m, uint32_t op);
MUST_CHECK status verify_func(module *m, uint32_t op);
MUST_CHECK status verify_fused(module *m, uint32_t op);
MUST_CHECK status verify_group(module *m, uint32_t op);
MUST_CHECK status verify_if(module *m, uint32_t op);
MUST_CHECK status verify_kernel(module *m, uint32_t op);
MUST_CHECK status verify_launch(module *m, uint32_t op);
MUST_CHECK status verify_pad(module *m, uint32_t op);
MUST_CHECK status verify_random(module *m, uint32_t op);
MUST_CHECK status verify_return(module *m, uint32_t op);
MUST_CHECK status verify_tensor_constant(module *m, uint32_t op);
MUST_CHECK status verify_constant_array(module *m, uint32_t op);
MUST_CHECK status verify_index_cast(module *m, uint32_t op);
MUST_CHECK status verify_dim(module *m, uint32_t op);
MUST_CHECK status verify_tune(module *m, uint32_t op);
MUST_CHECK status verify_scalar_of(module *m, uint32_t op);
MUST_CHECK status verify_view(module *m, uint32_t op);
MUST_CHECK status verify_while(module *m, uint32_t op);
MUST_CHECK status verify_yield(module *m, uint32_t op);
MUST_CHECK status verify_zero_acc(module *m, uint32_t op);
MUST_CHECK status verify_contract(module *m, uint32_t op);
MUST_CHECK status verify_contract_weights(module *m, uint32_t op);

#endif
