"""jax on the CPU: each program as one jitted function; weights are arguments like the others."""
import os

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import ml_dtypes
from jax import lax


def begin(threads):
    """It takes the CPUs that the process may run on."""
    return jax.__version__


def built(function):
    def build(t, s):
        arrays = {k: jax.device_put(v.view(ml_dtypes.bfloat16) if v.dtype.name == "uint16" else v) for k, v in t.items()}
        compiled, kept = jax.jit(function), []

        def call():
            kept[:] = [jax.block_until_ready(compiled(**arrays))]

        def results():
            last = kept[0] if isinstance(kept[0], tuple) else (kept[0],)
            return [(x.view(jnp.uint16) if x.dtype == jnp.bfloat16 else x).__array__() for x in last]

        return call, results

    return build


def rms_norm(x, gamma):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gamma


def layer_norm(x, gamma, beta):
    d = x - x.mean(-1, keepdims=True)
    return d * lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-6) * gamma + beta


def product(a, b):
    return jnp.matmul(a, b)


def bytes_product(a, b):
    return lax.dot(a, b, preferred_element_type=jnp.int32)


def scaled(a, sa, b, sb):
    return bytes_product(a, b).astype(jnp.float32) * sa * sb


def mlp(x, w, b, v, d):
    h = jax.nn.gelu(jnp.matmul(x, w).astype(jnp.float32) + b, approximate=True).astype(x.dtype)
    return (jnp.matmul(h, v).astype(jnp.float32) + d).astype(x.dtype)


def attention(causal):
    def function(q, k, v):
        score = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32) * q.shape[-1]**-0.5
        if causal:
            score = jnp.where(jnp.tril(jnp.ones(score.shape[2:], bool)), score, -jnp.inf)
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(score, -1).astype(q.dtype), v)

    return built(function)


def gate(x):
    return tuple(lax.top_k(jax.nn.softmax(x, -1), 8))


def rope(x, cos, sin):
    h = x.shape[-1] // 2
    p, q = x[..., :h], x[..., h:]
    return jnp.concatenate([p * cos - q * sin, q * cos + p * sin], -1)


PROGRAMS = {
    "softmax": built(lambda x: jax.nn.softmax(x, -1)), "rms_norm": built(rms_norm), "layer_norm": built(layer_norm),
    "gelu_chain": built(lambda x, y, z: jax.nn.gelu(x * y + z, approximate=True)),
    "matmul_f32": built(product), "matmul_bf16": built(product), "weights_f32": built(product), "weights_bf16": built(product),
    "matmul_i8": built(bytes_product), "weights_i8": built(scaled), "mlp_f32": built(mlp), "mlp_bf16": built(mlp),
    "attention_f32": attention(False), "attention_bf16": attention(False), "causal_f32": attention(True),
    "causal_bf16": attention(True), "gate": built(gate), "rope": built(rope),
    "swiglu": built(lambda a, b: jax.nn.silu(a) * b), "transpose": built(lambda x: jnp.transpose(x)),
}
