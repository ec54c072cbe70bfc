# A function of n kernels that all differ compiles in time and memory of order n: four times as many nests take less
# than eight times the processor's time, and 800 of them fit into 60 MB, with their files for the chip into 80.
. "$TEST_ROOT/tests/shell.sh"
cat >measure.py <<'EOF'
import os, sys

def adds(n):
    t = "tensor<$B x 256 x f32>"
    ops = "".join(f"  %c{i} = tensor.constant {{value = {i}.5}} : {t}\n  %u{i} = tensor.add %x, %c{i} : {t}\n" for i in range(n))
    return f"func @f(%x: {t}) -> ({', '.join([t] * n)}) {{\n{ops}  return {', '.join(f'%u{i}' for i in range(n))}\n}}\n"

def products(n):
    a, w, t = "tensor<$B x 64 x f16>", "tensor<64 x 16 x f16>", "tensor<$B x 16 x f32>"
    ops = "".join(f"  %c{i} = tensor.constant {{value = {i}.5}} : {w}\n  %u{i} = tensor.matmul %x, %c{i} {{out = f32}} : {t}\n" for i in range(n))
    return f"func @f(%x: {a}) -> ({', '.join([t] * n)}) {{\n{ops}  return {', '.join(f'%u{i}' for i in range(n))}\n}}\n"

def measure(texts, pipeline, out):
    """The least time of each, which take turns: a busy host is so for all of them. And the most memory of the last."""
    seconds, kilobytes = [[] for _ in texts], 0
    for _ in range(5):
        for i, text in enumerate(texts):
            with open("m.ptir", "w") as f:
                f.write(text)
            pid = os.spawnlp(os.P_NOWAIT, "pto-opt", "pto-opt", "m.ptir", f"--pipeline={pipeline}.yaml", "-o", out)
            _, status, used = os.wait4(pid, 0)
            if status != 0:
                sys.exit(f"pto-opt ended with {status}")
            seconds[i].append(used.ru_utime)
        kilobytes = max(kilobytes, used.ru_maxrss)
    return *(min(s) for s in seconds), kilobytes

few, many = int(sys.argv[1]), 4 * int(sys.argv[1])
failed = False
for name, make, pipeline, out, most_mb in (("sums", adds, "default", "o.ptir", 60), ("products", products, "default", "o.ptir", 60),
                                           ("files for the chip", adds, "ascend", "files/", 80)):
    a, b, kb = measure((make(few), make(many)), pipeline, out)
    print(f"{name}: {few} {a:.2f} s, {many} {b:.2f} s, {kb / 1024:.0f} MB")
    failed |= b > 8 * a or (sys.argv[2] == "memory" and kb > 1024 * most_mb)
sys.exit(failed)
EOF
# Sanitizers have memory of their own, and are slow.
if is_sanitized; then /usr/bin/python3 measure.py 60 time; else /usr/bin/python3 measure.py 200 memory; fi
