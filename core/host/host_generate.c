/* Code generators and readers: a module as text, for backends and tools, and text as a module. */
#include "core/host/host_handle.h"
#include "ir/text/printer.h"

const run_agent *run_strategy(run_context *c, uint32_t option, const char *role)
{
    const run_agent *who = c->request.agent;
    uint32_t count = 0;
    while (who->options != NULL && who->options[count] != NULL) count++;
    const run_agent *named = option < count && who->strategies != NULL ? who->strategies[option] : NULL;
    if (named != NULL && strcmp(named->role, role) == 0) return named;
    run_misuse(c, &E1323, "asked option %u for a %s, which it does not name", option, role);
    return NULL;
}

bool run_generate(run_session *s, const run_agent *generator, run_writer write, module *m, const pto_text_sink *sink)
{
    const run_request request = {.agent = generator, .module = m, .access = RUN_READS};
    const pto_run *run = run_context_begin(s, &request);
    return !run_context_end(run, write(run, sink)).failed;
}

bool run_read(run_session *s, const run_agent *reader, module *m, str text)
{
    const run_request request = {.agent = reader, .module = m, .access = RUN_WRITES_MODULE, .levels = UINT32_MAX};
    const pto_run *run = run_context_begin(s, &request);
    return !run_context_end(run, reader->reader->read(run, (pto_str){text.p, text.n})).failed;
}

static const run_agent *generator_of(run_context *c, uint32_t option, const pto_text_sink *sink)
{
    const run_agent *named = run_strategy(c, option, "code generator");
    if (named == NULL || (sink != NULL && PTO_HAS(sink, write) && sink->write != NULL)) return named;
    run_misuse(c, &E1324, "gave a text sink that is not complete");
    return NULL;
}

pto_status host_generate(const pto_run *run, uint32_t option, const pto_text_sink *sink)
{
    run_context *c = run_of(run);
    const run_agent *by = generator_of(c, option, sink);
    return by != NULL && run_generate(c->session, by, by->generator->generate, c->m, sink) ? PTO_OK : PTO_FAILED;
}

/* All that a machine file says, without places. */
static void put_facts(text_buffer *t, const yaml_node *n)
{
    text_printf(t, "%d %u ", (int)n->kind, n->count);
    if (n->kind == YAML_SCALAR) text_put_quoted(t, n->text);
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->kind == YAML_MAPPING) text_put_quoted(t, n->pairs[i].key);
        put_facts(t, n->kind == YAML_MAPPING ? n->pairs[i].value : n->items[i]);
    }
}

pto_status host_generate_key(const pto_run *run, uint32_t option, const pto_text_sink *sink)
{
    run_context *c = run_of(run);
    const run_agent *by = generator_of(c, option, sink);
    const machine *described = c->session->params.machine;
    if (by == NULL) return PTO_FAILED;
    if (by->generator->key == NULL) return PTO_MISSING;
    text_buffer t;
    text_init(&t);
    text_printf(&t, "%s\n", by->id);
    if (described != NULL) put_facts(&t, described->root);
    module_print(c->m, NULL, &t);
    const bool is_taken = sink->write(sink->self, t.p, t.n) == PTO_OK;
    text_fini(&t);
    return is_taken && run_generate(c->session, by, by->generator->key, c->m, sink) ? PTO_OK : PTO_FAILED;
}
