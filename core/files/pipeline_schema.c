/* The keys of pipeline files. */
#include "core/files/pipeline.h"

#define END {.name = NULL}

const char *const pipeline_verify_names[] = {"off", "each", "paranoid", NULL};

bool pipeline_verify_by_name(str name, pipeline_verify *out)
{
    for (pipeline_verify v = PIPELINE_VERIFY_OFF; v <= PIPELINE_VERIFY_PARANOID; v++) {
        if (!str_is(name, pipeline_verify_names[v])) continue;
        *out = v;
        return true;
    }
    return false;
}
static const char *const type_names[] = {"int", "float", "bool", "str", "enum", "bytes", "list", NULL};

static const schema_key any_value = {.name = "value", .kind = SCHEMA_ANY};
static const schema_key choice = {.name = "a choice", .type = VALUE_STR};

static const schema_key step_keys[] = {
    {.name = "pass", .type = VALUE_STR, .is_required = true, .doc = "pass id, as acme.tile"},
    {.name = "id", .type = VALUE_STR, .doc = "name of the step; without it the pass id without its vendor"},
    {.name = "with", .kind = SCHEMA_NAMED, .element = &any_value, .doc = "options of the pass"},
    END};
static const schema_key step_item = {.name = "a step",
                                     .kind = SCHEMA_MAPPING,
                                     .may_be_scalar = true,
                                     .keys = step_keys,
                                     .doc = "a pass id, or pass, id, with"};

static const schema_key edit_keys[] = {
    {.name = "replace", .type = VALUE_STR, .group = 1, .doc = "step that `with` replaces; its id stays"},
    {.name = "insert-before", .type = VALUE_STR, .group = 1, .doc = "step before which `with` is put"},
    {.name = "insert-after", .type = VALUE_STR, .group = 1, .doc = "step after which `with` is put"},
    {.name = "remove", .type = VALUE_STR, .group = 1, .doc = "step that is taken out"},
    {.name = "set",
     .type = VALUE_STR,
     .group = 1,
     .doc = "path of a value: STEP.with.OPTION, params.NAME, backend.with.OPTION"},
    {.name = "with", .kind = SCHEMA_MAPPING, .may_be_scalar = true, .keys = step_keys, .doc = "the new step"},
    {.name = "to", .kind = SCHEMA_ANY, .doc = "the new value"},
    END};
static const schema_key edit_item = {.name = "an edit", .kind = SCHEMA_MAPPING, .keys = edit_keys};

static const schema_key param_keys[] = {
    {.name = "type", .type = VALUE_ENUM, .choices = type_names, .is_required = true, .doc = "type of the value"},
    {.name = "default", .kind = SCHEMA_ANY, .doc = "value; without it `params.NAME=V` must be set"},
    {.name = "min", .type = VALUE_STR, .doc = "smallest legal value"},
    {.name = "max", .type = VALUE_STR, .doc = "largest legal value"},
    {.name = "choices", .kind = SCHEMA_SEQUENCE, .element = &choice, .doc = "legal values of an enum"},
    {.name = "doc", .type = VALUE_STR, .doc = "what it is for"},
    END};
static const schema_key param_entry = {.name = "parameter", .kind = SCHEMA_MAPPING, .keys = param_keys};

static const schema_key backend_keys[] = {
    {.name = "use", .type = VALUE_STR, .is_required = true, .doc = "backend id, as acme.gpu"},
    {.name = "with", .kind = SCHEMA_NAMED, .element = &any_value, .doc = "options of the backend"},
    END};

static const schema_key top_keys[] = {
    SCHEMA_VERSION_1("pto-pipeline"),
    {.name = "name", .type = VALUE_STR, .doc = "name of the pipeline"},
    {.name = "doc", .type = VALUE_STR, .doc = "what it is for"},
    {.name = "extends", .type = VALUE_STR, .doc = "pipeline file that this one changes"},
    {.name = "edit", .kind = SCHEMA_SEQUENCE, .element = &edit_item, .doc = "changes to the steps, in order"},
    {.name = "machine", .type = VALUE_STR, .doc = "machine file"},
    {.name = "params", .kind = SCHEMA_NAMED, .element = &param_entry, .doc = "values that users may vary by name"},
    {.name = "verify",
     .type = VALUE_ENUM,
     .choices = pipeline_verify_names,
     .def = "each",
     .doc = "when the module is verified"},
    {.name = "passes", .kind = SCHEMA_SEQUENCE, .element = &step_item, .doc = "the steps, in order"},
    {.name = "backend",
     .kind = SCHEMA_MAPPING,
     .may_be_scalar = true,
     .keys = backend_keys,
     .doc = "what runs the result: an id, or use, with"},
    END};

const schema_file pipeline_schema = {
    .kind = "pipeline",
    .version_key = "pto-pipeline",
    .version = 1,
    .keys = top_keys,
    .doc = "The passes that compile a program, their options, the machine and the backend.",
};
