// Compiles a module for this CPU and calls its function, in C++17: call_softmax MODULE.ptir
#include <pto/pto.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

struct destroy_context {
    void operator()(pto_context *c) const { pto_context_destroy(c); }
};
using context = std::unique_ptr<pto_context, destroy_context>;

void check(const context &c, pto_result r)
{
    if (r != PTO_RESULT_OK) throw std::runtime_error(pto_diagnostics_text(c.get()));
}

// A dense array of floats.
class array
{
  public:
    explicit array(std::vector<int64_t> shape) : shape_(std::move(shape))
    {
        size_t count = 1;
        for (int64_t n : shape_) count *= static_cast<size_t>(n);
        data_.resize(count);
    }
    std::vector<float> &data() { return data_; }
    DLTensor tensor()
    {
        DLTensor t{};
        t.data = data_.data();
        t.device = {kDLCPU, 0};
        t.ndim = static_cast<int32_t>(shape_.size());
        t.dtype = {kDLFloat, 32, 1};
        t.shape = shape_.data();
        return t;
    }

  private:
    std::vector<int64_t> shape_;
    std::vector<float> data_;
};

double run(const char *module)
{
    pto_context *made = nullptr;
    const pto_result created = pto_context_create(nullptr, &made);
    const context c(made);
    check(c, created);
    pto_pipeline *pipeline = nullptr;
    pto_program *program = nullptr;
    pto_callable *softmax = nullptr;
    check(c, pto_pipeline_read(c.get(), "native.yaml", nullptr, &pipeline));
    check(c, pto_compile_file(pipeline, module, &program));
    check(c, pto_callable_create(program, nullptr, &softmax));

    array x({3, 32, 256}), y({3, 32, 256});
    for (size_t i = 0; i < x.data().size(); i++) x.data()[i] = std::sin(static_cast<float>(i));
    const DLTensor in = x.tensor(), out = y.tensor();
    const DLTensor *inputs[] = {&in}, *outputs[] = {&out};
    check(c, pto_callable_call(softmax, inputs, 1, outputs, 1));

    double worst = 0;
    for (size_t row = 0; row < y.data().size(); row += 256) {
        double sum = 0;
        for (size_t i = 0; i < 256; i++) sum += y.data()[row + i];
        worst = std::fmax(worst, std::fabs(sum - 1));
    }
    return worst;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s MODULE.ptir\n", argv[0]);
        return 2;
    }
    try {
        const double worst = run(argv[1]);
        std::printf("rows sum to 1 within %s\n", worst < 1e-5 ? "1e-5" : "more than 1e-5");
        return worst < 1e-5 ? 0 : 1;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s", e.what());
        return 1;
    }
}
