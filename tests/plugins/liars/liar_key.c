/* A code generator whose text is not C, and whose key says nothing or fails without a reason. */
#include <pto/plugin.h>

#define OPTIONS(X)                                                                                           \
    X(FAILS, BOOL, "fails", .doc = "Whether its key fails.", .example = "generator: { use: test.liar-key }", \
      .def = "false")
PTO_OPTIONS(OPTIONS);

static pto_status generate(const pto_run *run, const pto_text_sink *sink)
{
    (void)run;
    return sink->write(sink->self, "no C", 4);
}

static pto_status write_key(const pto_run *run, const pto_text_sink *sink)
{
    (void)sink;
    return pto_opt_i64(run, OPT_FAILS) != 0 ? PTO_FAILED : PTO_OK;
}

static const pto_generator code = {.struct_size = sizeof code,
                                   .id = "test.liar-key",
                                   .summary = "Writes what is not C",
                                   .options = pass_options,
                                   .suffix = ".c",
                                   .generate = generate,
                                   .key = write_key};
PTO_PLUGIN("test.liar-key", "generator:test.liar-key", "", .version = "1.0.0", .license = "Apache-2.0",
           .generators = PTO_LIST(pto_generator, &code));
