"""onnxruntime: one graph for each program, as its own tools would write it; inputs and outputs are bound once."""
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

threads = 1


def begin(count):
    global threads
    threads = count
    return ort.__version__


class Graph:
    def __init__(self, tensors, weights):
        self.tensors, self.weights, self.nodes, self.constants = tensors, weights, [], []

    def node(self, op, inputs, outputs="y", domain="", **attributes):
        outputs = outputs if isinstance(outputs, list) else [outputs]
        self.nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))
        return self

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def session(self, outputs):
        used = {name for n in self.nodes for name in n.input}
        inputs = {k: v for k, v in self.tensors.items() if k in used and k not in self.weights}
        weights = [numpy_helper.from_array(v, k) for k, v in self.tensors.items() if k in used and k in self.weights]
        infos = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in inputs.items()]
        graph = helper.make_graph(self.nodes, "g", infos, [helper.make_empty_tensor_value_info(o) for o in outputs],
                                  weights + self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 11
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]), inputs

    def build(self, outputs=("y",)):
        session, inputs = self.session(outputs)
        binding = session.io_binding()
        for name, value in inputs.items():
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(value))
        for name in outputs:
            binding.bind_output(name, "cpu")
        session.run_with_iobinding(binding)
        results = binding.get_outputs()
        binding.clear_binding_outputs()
        for name, value in zip(outputs, results):
            binding.bind_ortvalue_output(name, value)  # no memory is taken in a call
        return lambda: session.run_with_iobinding(binding), lambda: [r.numpy() for r in results]


def row_kernel(op, *names, **attributes):
    return lambda t, s: Graph(t, names).node(op, ["x", *names], axis=-1, **attributes).build()


def gelu_chain(t, s):
    g = Graph(t, ()).node("Mul", ["x", "y"], "p").node("Add", ["p", "z"], "v")
    return g.node("Gelu", ["v"], "out", approximate="tanh").build(("out",))


def product(op, *weights):
    return lambda t, s: Graph(t, weights).node(op, ["a", "b"]).build()


def bytes_product(g, t):
    """Its kernels are for u8 by s8: a is moved by 128, which the operator takes back."""
    g.tensors = {**t, "a": t["a"].view(np.uint8) ^ 128}
    return g.node("MatMulInteger", ["a", "b", g.constant("moved", np.array(128, np.uint8))], "sum")


def scaled(t, s):
    g = bytes_product(Graph(t, ("b", "sb")), t).node("Cast", ["sum"], "wide", to=1)
    return g.node("Mul", ["wide", "sa"], "rows").node("Mul", ["rows", "sb"]).build()


def nibbles(t, s):
    """Weights as MatMulNBits has them: columns, 32 in a block, moved from -8..7 to 0..15."""
    b = np.empty((s["K"], s["N"]), np.uint8)
    b[:, 0::2], b[:, 1::2] = t["b"] & 15, t["b"] >> 4
    b = b.T.reshape(s["N"], -1, 2)
    return by_bits(t, s, b[..., 0] | b[..., 1] << 4, t["sb"].T)


def by_bits(t, s, b, scales):
    g = Graph(t, ())
    packed, scales = g.constant("q", (b ^ 0x88).reshape(s["N"], -1, 16)), g.constant("s", scales.reshape(-1))
    return g.node("MatMulNBits", ["a", packed, scales], domain="com.microsoft", K=s["K"], N=s["N"], bits=4, block_size=32,
                  accuracy_level=1).build()


def mlp(t, s):
    g = Graph(t, ("w", "b", "v", "d")).node("MatMul", ["x", "w"], "p").node("Add", ["p", "b"], "q")
    g.node("Gelu", ["q"], "h", approximate="tanh").node("MatMul", ["h", "v"], "o")
    return g.node("Add", ["o", "d"]).build()


def attention(t, s):
    """Its fastest operator has the heads of a place side by side."""
    wide = {k: np.ascontiguousarray(v.transpose(0, 2, 1, 3)).reshape(1, v.shape[2], -1) for k, v in t.items()}
    g = Graph(wide, ()).node("MultiHeadAttention", ["q", "k", "v"], domain="com.microsoft", num_heads=s["H"])
    call, results = g.build()
    return call, lambda: [results()[0].reshape(1, s["S"], s["H"], s["D"]).transpose(0, 2, 1, 3)]


def causal(t, s):
    return Graph(t, ()).node("Attention", ["q", "k", "v"], is_causal=1).build()


def gate(t, s):
    g = Graph(t, ())
    g.node("Softmax", ["x"], "p", axis=-1)
    return g.node("TopK", ["p", g.constant("k", np.array([8]))], ["y", "i"], axis=-1).build(("y", "i"))


def rope(t, s):
    """Its operator wants a batch in front and the places of the rows."""
    g = Graph({"x": t["x"][None]}, ())
    places = g.constant("places", np.arange(s["S"])[None])
    made = g.node("RotaryEmbedding", ["x", g.constant("c", t["cos"]), g.constant("s", t["sin"]), places]).build()
    return made[0], lambda: [made[1]()[0][0]]


def swiglu(t, s):
    return Graph(t, ()).node("Sigmoid", ["a"], "u").node("Mul", ["u", "a"], "v").node("Mul", ["v", "b"]).build()


PROGRAMS = {
    "softmax": row_kernel("Softmax"),
    "rms_norm": row_kernel("SimplifiedLayerNormalization", "gamma", epsilon=1e-6),
    "layer_norm": row_kernel("LayerNormalization", "gamma", "beta", epsilon=1e-6),
    "gelu_chain": gelu_chain, "matmul_f32": product("MatMul"), "weights_f32": product("MatMul", "b"),
    "matmul_i8": lambda t, s: bytes_product(Graph(t, ()), t).build(("sum",)), "weights_i8": scaled, "weights_i4": nibbles,
    "weights_i4_turned": lambda t, s: by_bits(t, s, t["b"], t["sb"]), "mlp_f32": mlp,
    "attention_f32": attention, "causal_f32": causal, "gate": gate, "rope": rope, "swiglu": swiglu,
    "transpose": lambda t, s: Graph(t, ()).node("Transpose", ["x"], perm=[1, 0]).build(),
}
