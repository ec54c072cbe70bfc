/* A reader of files whose suffix has no point. */
#include <pto/plugin.h>

static pto_status read_text(const pto_run *run, pto_str text)
{
    (void)run;
    (void)text;
    return PTO_OK;
}

static const pto_reader reader = {.struct_size = sizeof reader,
                                  .id = "test.liar-reads-suffix",
                                  .summary = "Reads what its name does not say",
                                  .suffixes = PTO_STRS("pto"),
                                  .read = read_text};
PTO_PLUGIN("test.liar-reads-suffix", "reader:test.liar-reads-suffix", "", .version = "1.0.0", .license = "Apache-2.0",
           .readers = PTO_LIST(pto_reader, &reader));
