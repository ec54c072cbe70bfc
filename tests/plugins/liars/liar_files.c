/* A code generator whose files cannot be in a folder, and one that begins without a name. */
#include <pto/plugin.h>

#define OPTIONS(X)                                                                                            \
    X(SAYS, ENUM, "says", .doc = "How its file is called.", .example = "generator: { use: test.liar-files }", \
      .def = "twice", .choices = PTO_STRS("twice", "folder", "nothing"))
PTO_OPTIONS(OPTIONS);

static pto_status generate(const pto_run *run, const pto_text_sink *sink)
{
    const int64_t says = pto_opt_i64(run, OPT_SAYS);
    if (says == 2) return sink->write(sink->self, "text", 4);
    PTO_TRY(sink->file(sink->self, says == 1 ? "a/b.c" : "a.c"));
    return sink->file(sink->self, "a.c");
}

static const pto_generator files = {.struct_size = sizeof files,
                                    .id = "test.liar-files",
                                    .summary = "Writes files that cannot be",
                                    .options = pass_options,
                                    .suffix = "/",
                                    .generate = generate};
PTO_PLUGIN("test.liar-files", "generator:test.liar-files", "", .version = "1.0.0", .license = "Apache-2.0",
           .generators = PTO_LIST(pto_generator, &files));
