/* Names of the text, and what all parts of the importer need. */
#include "import.h"

static uint32_t bucket_of(pto_str name)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.n; i++) hash = (hash ^ (unsigned char)name.p[i]) * 16777619u;
    return hash % IMPORT_BUCKETS;
}

static const import_name *look_up(const importer *im, pto_str name)
{
    for (uint32_t i = im->buckets[bucket_of(name)]; i > im->floor; i = im->names[i - 1].hides)
        if (pto_str_same(im->names[i - 1].name, name)) return &im->names[i - 1];
    return NULL;
}

pto_status import_define(importer *im, const mlir_node *name, import_name what)
{
    if (look_up(im, name->text) != NULL)
        return mlir_error(im->run, name->line, name->column, "pto.read-ascend/name", "`%%%.*s` is defined twice",
                          PTO_FMT(name->text));
    const uint32_t b = bucket_of(name->text);
    what.name = name->text;
    what.hides = im->buckets[b];
    PTO_GROW(im->run, im->names, im->name_count, im->name_capacity);
    im->names[im->name_count++] = what;
    im->buckets[b] = im->name_count;
    return PTO_OK;
}

pto_status import_find(importer *im, const mlir_node *name, uint32_t kinds, const char *what, const import_name **out)
{
    *out = look_up(im, name->text);
    if (*out == NULL)
        return mlir_error(im->run, name->line, name->column, "pto.read-ascend/name", "`%%%.*s` is not defined",
                          PTO_FMT(name->text));
    if ((*out)->kind == IMPORT_TILE && (*out)->tile->sides[0] != NULL) im->chosen = (uint32_t)(*out - im->names) + 1;
    if ((kinds >> (*out)->kind & 1) != 0) return PTO_OK;
    return mlir_error(im->run, name->line, name->column, "pto.read-ascend/name", "`%%%.*s` is not %s",
                      PTO_FMT(name->text), what);
}

uint32_t import_open(const importer *im) { return im->name_count; }

void import_close(importer *im, uint32_t mark)
{
    while (im->name_count > mark) {
        const import_name *n = &im->names[--im->name_count];
        im->buckets[bucket_of(n->name)] = n->hides;
    }
}

pto_str import_plain_name(const importer *im, pto_str name)
{
    char *text = PTO_SCRATCH(im->run, char, name.n + 1);
    size_t n = name.n;
    if (n > 1 && name.p[n - 1] == '_') n--;
    for (size_t i = 0; i < n; i++) {
        const char c = name.p[i];
        const int is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        text[i] = '_';
        if (is_plain) text[i] = c;
    }
    return pto_str_make(text, n);
}

pto_loc import_loc(const importer *im, const mlir_op *op) { return pto_loc_make(im->run, op->line, op->column); }

pto_op import_build(importer *im, pto_spec *s)
{
    pto_spec_loc(s, im->loc);
    const pto_op op = pto_spec_build(s, pto_at_end(im->block));
    if (PTO_SOME(op) && !PTO_SOME(im->first)) im->first = op;
    return op;
}

pto_status import_refuse(const importer *im, const mlir_op *op, const char *format, ...)
{
    char text[PTO_REPORT_BYTES];
    va_list args;
    va_start(args, format);
    const pto_str message = pto_vtext(text, format, args);
    va_end(args);
    return mlir_error(im->run, op->line, op->column, "pto.read-ascend/unsupported", "`%.*s` %.*s", PTO_FMT(op->name),
                      PTO_FMT(message));
}
