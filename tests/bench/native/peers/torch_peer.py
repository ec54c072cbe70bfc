"""torch, eager; weights of products as nn.Linear keeps them, n x k."""
import torch
from torch.nn import functional as f

torch.set_grad_enabled(False)


def begin(threads):
    torch.set_num_threads(threads)
    return torch.__version__


def made(call):
    """Its ops take memory for their result in each call; the settings of malloc keep that for the next one."""
    kept = []

    def run():
        kept[:] = [call()]

    def results():
        last = kept[0] if isinstance(kept[0], tuple) else (kept[0],)
        return [(x.contiguous().view(torch.int16) if x.dtype == torch.bfloat16 else x).numpy() for x in last]

    return run, results


def of(array):
    if array.dtype.name == "uint16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)


def simple(call):
    return lambda t, s: made(lambda t={k: of(v) for k, v in t.items()}: call(**t))


def product(t, s):
    a, b = of(t["a"]), of(t["b"])
    out = torch.empty((s["M"], s["N"]), dtype=a.dtype)
    torch.matmul(a, b, out=out)
    return made(lambda: torch.matmul(a, b, out=out))


def linear(t, s):
    a, b = of(t["a"]), of(t["b"]).t().contiguous()
    return made(lambda: f.linear(a, b))


def scaled(t, s):
    t = {k: of(v) for k, v in t.items()}
    if s["M"] <= 16:
        raise NotImplementedError("torch._int_mm has 17 rows or more")
    b = t["b"].t().contiguous().t()
    return made(lambda: torch._int_mm(t["a"], b).to(torch.float32) * t["sa"] * t["sb"])


def mlp(t, s):
    x, w, b, v, d = (of(t[k]) for k in "xwbvd")
    w, v, b, d = w.t().contiguous(), v.t().contiguous(), b.to(x.dtype), d.to(x.dtype)
    return made(lambda: f.linear(f.gelu(f.linear(x, w, b), approximate="tanh"), v, d))


def gate(x):
    return tuple(torch.topk(torch.softmax(x, -1), 8, -1))


def turn(x, c, s):
    h = x.shape[-1] // 2
    p, q = x[..., :h], x[..., h:]
    return torch.cat((p * c - q * s, q * c + p * s), -1)


def rms(x, gamma):
    return f.rms_norm(x.float(), gamma.shape, gamma, 1e-6).to(torch.bfloat16)


def feed_forward(y, w):
    n = rms(y, w["g2"])
    return (y + f.linear(f.silu(f.linear(n, w["w_gate"])) * f.linear(n, w["w_up"]), w["w_down"]).float()).to(torch.bfloat16)


def layer(t):
    t = {k: of(v) for k, v in t.items()}
    return {k: v.t().contiguous() if k[0] == "w" else v for k, v in t.items()}


def decode_layer(t, s):
    w, b, g = layer(t), s["B"], s["G"]
    last = w["lengths"].long() - 1

    def call():
        n = rms(w["x"], w["g1"])
        c, d = w["cos"][last][:, None], w["sin"][last][:, None]
        q = turn(f.linear(n, w["wq"]).float().view(b, 8 * g, 128), c, d).to(torch.bfloat16)
        k = turn(f.linear(n, w["wk"]).float().view(b, g, 128), c, d).to(torch.bfloat16)
        w["keys"][torch.arange(b), :, last] = k
        w["values"][torch.arange(b), :, last] = f.linear(n, w["wv"]).view(b, g, 128)
        o = f.scaled_dot_product_attention(q[:, :, None], w["keys"], w["values"], enable_gqa=True)
        y = f.linear(o.view(b, 1024 * g), w["wo"]).float() + w["x"].float()
        return feed_forward(y, w), w["keys"], w["values"]

    return made(call)


def prefill_layer(t, s):
    w, rows, heads = layer(t), s["T"], s["H"] // 128

    def call():
        n = rms(w["x"], w["g1"])
        q, k, v = (f.linear(n, w[name]).view(rows, heads, 128).transpose(0, 1) for name in ("wq", "wk", "wv"))
        q, k = (turn(x.float(), w["cos"], w["sin"]).to(torch.bfloat16)[None] for x in (q, k))
        o = f.scaled_dot_product_attention(q, k, v[None], is_causal=True)[0].transpose(0, 1).reshape(rows, s["H"])
        return feed_forward(f.linear(o, w["wo"]).float() + w["x"].float(), w)

    return made(call)


PROGRAMS = {
    "softmax": simple(lambda x: torch.softmax(x, -1)),
    "rms_norm": simple(lambda x, gamma: f.rms_norm(x, gamma.shape, gamma, 1e-6)),
    "layer_norm": simple(lambda x, gamma, beta: f.layer_norm(x, gamma.shape, gamma, beta, 1e-6)),
    "gelu_chain": simple(lambda x, y, z: f.gelu(x * y + z, approximate="tanh")),
    "matmul_f32": product, "matmul_bf16": product, "weights_f32": linear, "weights_bf16": linear, "weights_i8": scaled,
    "matmul_i8": lambda t, s: made(lambda a=of(t["a"]), b=of(t["b"]): torch._int_mm(a, b)),
    "mlp_f32": mlp, "mlp_bf16": mlp, "gate": simple(gate), "rope": simple(lambda x, cos, sin: turn(x, cos, sin)),
    "attention_f32": simple(lambda q, k, v: f.scaled_dot_product_attention(q, k, v)),
    "attention_bf16": simple(lambda q, k, v: f.scaled_dot_product_attention(q, k, v)),
    "causal_f32": simple(lambda q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True)),
    "causal_bf16": simple(lambda q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True)),
    "swiglu": simple(lambda a, b: f.silu(a) * b), "transpose": simple(lambda x: x.t().contiguous()),
    "decode_layer": decode_layer, "prefill_layer": prefill_layer,
}
