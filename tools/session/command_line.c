#include "tools/session/command_line.h"

#include "ir/base/text.h"
#include "tools/base/tool_diag.h"

#include <inttypes.h>
#include <string.h>

const cli_option cli_options[] = {
#define OPTION(ID, name_, ...) {.name = (name_), __VA_ARGS__},
#include "tools/session/options.def"
#undef OPTION
};

static src_pos tool_pos(const command_line *c) { return (src_pos){c->tool, 0, 0}; }

/* The row of the tool after `option`, from UINT32_MAX on; OPTION_COUNT at the end. */
static uint32_t next_row(uint32_t tool_bit, uint32_t option)
{
    do option++;
    while (option < OPTION_COUNT && !(cli_options[option].tools & tool_bit));
    return option;
}

#define EACH_ROW(i, tool_bit) \
    for (uint32_t i = next_row((tool_bit), UINT32_MAX); i < OPTION_COUNT; i = next_row((tool_bit), i))

static status unknown(diag_engine *d, arena *a, const command_line *c, str name)
{
    diag_error(d, tool_pos(c), &E1502, "unknown option `%.*s`", (int)name.n, name.p);
    const char **names = arena_array(a, OPTION_COUNT + 1u, sizeof *names);
    uint32_t n = 0;
    EACH_ROW(i, c->tool_bit) names[n++] = cli_options[i].name;
    while (name.n > 0 && *name.p == '-') name = (str){name.p + 1, name.n - 1};
    const char *near = str_nearest(name, names);
    if (near != NULL) diag_note(d, NO_POS, "did you mean `--%s`?", near);
    diag_note(d, NO_POS, "`%s --help` lists the options", c->tool);
    return FAILED;
}

static uint32_t find_long(const command_line *c, str name)
{
    EACH_ROW(i, c->tool_bit)
    {
        if (str_is(name, cli_options[i].name)) return i;
    }
    return OPTION_COUNT;
}

static uint32_t find_short(const command_line *c, char letter)
{
    EACH_ROW(i, c->tool_bit)
    {
        if (cli_options[i].short_name == letter) return i;
    }
    return OPTION_COUNT;
}

/* ---- lists of names, "a|b" ---- */

/* The next name of a list; false at its end. */
static bool next_name(const char **list, str *name)
{
    if (*list == NULL || !**list) return false;
    *name = (str){*list, strcspn(*list, "|")};
    *list += name->n + ((*list)[name->n] == '|');
    return true;
}

/* "a, b or c", each with `before` in front. */
static void put_names(const char *list, const char *before, text_buffer *out)
{
    str name;
    for (bool is_first = true; next_name(&list, &name); is_first = false)
        text_printf(out, "%s%s%.*s", is_first ? "" : *list ? ", " : " or ", before, (int)name.n, name.p);
}

static bool is_in(const char *list, const char *word)
{
    str name;
    while (next_name(&list, &name))
        if (str_is(name, word)) return true;
    return false;
}

static bool is_path(const char *metavariable)
{
    return strncmp(metavariable, "FILE", 4) == 0 || strncmp(metavariable, "DIR", 3) == 0 ||
           strcmp(metavariable, "PROGRAM") == 0;
}

static status record(diag_engine *d, command_line *c, uint32_t option, const char *value, bool is_short)
{
    const cli_option *o = &cli_options[option];
    if (value != NULL && o->argument == CLI_NONE) {
        diag_error(d, tool_pos(c), &E1503, "option `--%s` takes no value, `%s` was given", o->name, value);
        return FAILED;
    }
    if (value != NULL && *value == '\0' && o->value != NULL && is_path(o->value)) {
        diag_error(d, tool_pos(c), &E1503, "option `--%s` needs a %s, not an empty name", o->name,
                   strncmp(o->value, "DIR", 3) == 0 ? "folder" : "file");
        return FAILED;
    }
    if (value != NULL && o->is_choice && !is_in(o->value, value)) {
        text_buffer t;
        text_init(&t);
        put_names(o->value, "", &t);
        diag_error(d, tool_pos(c), &E1503, "option `--%s` needs %s, not `%s`", o->name, t.p, value);
        text_fini(&t);
        return FAILED;
    }
    if (!o->repeats && command_line_has(c, option)) {
        diag_error(d, tool_pos(c), &E1503, "option `--%s` was given twice", o->name);
        return FAILED;
    }
    c->uses[c->use_count++] = (cli_use){option, value, is_short};
    return OK;
}

/* Takes one option at argv[*at] and its value. */
static status take_option(diag_engine *d, arena *a, command_line *c, int argc, char **argv, int *at)
{
    char *word = argv[*at];
    const bool is_long = word[1] == '-';
    char *equals = is_long ? strchr(word, '=') : NULL;
    const str name =
        is_long ? (str){word + 2, equals != NULL ? (size_t)(equals - word) - 2 : strlen(word) - 2} : (str){word, 2};
    const uint32_t option = is_long ? find_long(c, name) : find_short(c, word[1]);
    if (option == OPTION_COUNT) return unknown(d, a, c, is_long ? (str){word, name.n + 2} : name);
    const char *value = is_long ? (equals != NULL ? equals + 1 : NULL) : (word[2] ? word + 2 : NULL);
    if (value == NULL && cli_options[option].argument == CLI_REQUIRED) {
        if (*at + 1 >= argc) {
            diag_error(d, tool_pos(c), &E1503, "option `%s` needs a value: %s", word, cli_options[option].value);
            return FAILED;
        }
        value = argv[++*at];
    }
    return record(d, c, option, value, !is_long);
}

status command_line_parse(arena *a, diag_engine *d, const char *tool, uint32_t tool_bit, int argc, char **argv,
                          command_line *out)
{
    *out = (command_line){.tool = tool, .tool_bit = tool_bit};
    out->uses = arena_array(a, (size_t)argc, sizeof *out->uses);
    out->arguments = arena_array(a, (size_t)argc, sizeof *out->arguments);
    bool options_ended = false;
    for (int i = 1; i < argc; i++) {
        if (!options_ended && strcmp(argv[i], "--") == 0)
            options_ended = true;
        else if (options_ended || argv[i][0] != '-' || argv[i][1] == '\0')
            out->arguments[out->argument_count++] = argv[i];
        else
            TRY(take_option(d, a, out, argc, argv, &i));
    }
    return OK;
}

bool command_line_has(const command_line *c, uint32_t option)
{
    for (uint32_t i = 0; i < c->use_count; i++) {
        if (c->uses[i].option == option) return true;
    }
    return false;
}

static bool has_one(const command_line *c, const char *names)
{
    str name;
    while (next_name(&names, &name)) {
        const uint32_t option = find_long(c, name);
        if (option < OPTION_COUNT && command_line_has(c, option)) return true;
    }
    return false;
}

static status check_needs(diag_engine *d, const command_line *c, const cli_option *o)
{
    if (o->needs == NULL || has_one(c, o->needs)) return OK;
    text_buffer t;
    text_init(&t);
    put_names(o->needs, "--", &t);
    diag_error(d, tool_pos(c), &E1504, "option `--%s` has no effect without %s", o->name, t.p);
    text_fini(&t);
    return FAILED;
}

static status check_excludes(diag_engine *d, const command_line *c, const cli_option *o)
{
    for (uint32_t i = 0; o->excludes != NULL && i < c->use_count; i++) {
        const char *other = cli_options[c->uses[i].option].name;
        if (!is_in(o->excludes, other)) continue;
        diag_error(d, tool_pos(c), &E1504, "--%s excludes --%s", o->name, other);
        return FAILED;
    }
    return OK;
}

status command_line_check(diag_engine *d, const command_line *c)
{
    EACH_ROW(i, c->tool_bit)
    {
        if (!command_line_has(c, i)) continue;
        TRY(check_needs(d, c, &cli_options[i]));
        TRY(check_excludes(d, c, &cli_options[i]));
    }
    return OK;
}

const char *const *command_line_values(arena *a, const command_line *c, uint32_t option)
{
    const char **values = arena_array(a, c->use_count + 1u, sizeof *values);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->use_count; i++) {
        if (c->uses[i].option == option) values[n++] = c->uses[i].value;
    }
    return values;
}

const char *command_line_value(const command_line *c, uint32_t option)
{
    for (uint32_t i = c->use_count; i-- > 0;) {
        if (c->uses[i].option == option) return c->uses[i].value;
    }
    return NULL;
}

status command_line_i64(diag_engine *d, const command_line *c, uint32_t option, int64_t lo, int64_t hi, int64_t absent,
                        int64_t *out)
{
    const char *text = command_line_value(c, option);
    *out = absent;
    if (text == NULL) return OK;
    if (str_to_i64(str_from(text), out) == OK && *out >= lo && *out <= hi) return OK;
    diag_error(d, tool_pos(c), &E1503, "option `--%s` needs a whole number from %" PRId64 " to %" PRId64 ", not `%s`",
               cli_options[option].name, lo, hi, text);
    return FAILED;
}

status command_line_seconds(diag_engine *d, const command_line *c, uint32_t option, double *seconds)
{
    enum { SECONDS_MAX = 1000000000 };
    const char *text = command_line_value(c, option);
    double given = 0;
    if (text == NULL) return OK;
    if (str_to_f64(str_from(text), &given) == OK && given > 0 && given <= (double)SECONDS_MAX) {
        *seconds = given;
        return OK;
    }
    diag_error(d, tool_pos(c), &E1503, "option `--%s` needs seconds, more than 0 and at most %d, not `%s`",
               cli_options[option].name, SECONDS_MAX, text);
    return FAILED;
}

static int option_width(const cli_option *o)
{
    return (int)(strlen(o->name) + (o->value != NULL ? strlen(o->value) + 1 : 0) +
                 (o->argument == CLI_OPTIONAL ? 2 : 0));
}

/* All rows by group. `usage` is the line after "usage: ". */
static void command_line_help(FILE *out, uint32_t tool_bit, const char *usage, const char *summary)
{
    int width = 0;
    EACH_ROW(i, tool_bit)
    {
        const int w = option_width(&cli_options[i]);
        if (w > width) width = w;
    }
    fprintf(out, "usage: %s\n%s\n", usage, summary);
    const char *group = NULL;
    EACH_ROW(i, tool_bit)
    {
        const cli_option *o = &cli_options[i];
        if (group == NULL || strcmp(group, o->group) != 0) fprintf(out, "\n%s:\n", o->group);
        group = o->group;
        if (o->short_name)
            fprintf(out, "  -%c, --%s", o->short_name, o->name);
        else
            fprintf(out, "      --%s", o->name);
        if (o->argument == CLI_OPTIONAL)
            fprintf(out, "[=%s]", o->value);
        else if (o->argument == CLI_REQUIRED)
            fprintf(out, "=%s", o->value);
        fprintf(out, "%*s  %s\n", width - option_width(o), "", o->doc);
    }
}

void command_line_put_word(text_buffer *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (*word && word[strspn(word, plain)] == 0) {
        text_puts(out, word);
        return;
    }
    text_putc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            text_puts(out, "'\\''");
        else
            text_putc(out, *word);
    }
    text_putc(out, '\'');
}

void command_line_write(const command_line *c, text_buffer *out)
{
    text_puts(out, c->tool);
    for (uint32_t i = 0; i < c->use_count; i++) {
        text_printf(out, " --%s", cli_options[c->uses[i].option].name);
        if (c->uses[i].value == NULL) continue;
        text_putc(out, '=');
        command_line_put_word(out, c->uses[i].value);
    }
    for (uint32_t i = 0; i < c->argument_count; i++) {
        text_putc(out, ' ');
        command_line_put_word(out, c->arguments[i]);
    }
}

/* `-h`: the names alone, on one screen of 80 x 24. */
static void command_line_short_help(FILE *out, uint32_t tool_bit, const char *usage, const char *summary)
{
    enum { COLUMNS = 80 };
    fprintf(out, "usage: %s\n%s\n", usage, summary);
    const char *group = NULL;
    int column = 0;
    EACH_ROW(i, tool_bit)
    {
        const cli_option *o = &cli_options[i];
        const int width = 3 + (int)strlen(o->name) + (o->short_name ? 4 : 0);
        const bool begins = group == NULL || strcmp(group, o->group) != 0;
        if (begins)
            column = fprintf(out, "%s%s:", group != NULL ? "\n" : "", o->group) - (group != NULL ? 1 : 0);
        else if (column + width > COLUMNS)
            column = fprintf(out, "\n   ") - 1;
        group = o->group;
        if (o->short_name)
            column += fprintf(out, " -%c, --%s", o->short_name, o->name);
        else
            column += fprintf(out, " --%s", o->name);
    }
    fputs("\n`--help` says what they do.\n", out);
}

bool command_line_answer_help(const command_line *c, const char *usage, const char *summary)
{
    for (uint32_t i = 0; i < c->use_count; i++) {
        if (c->uses[i].option != OPTION_HELP) continue;
        if (c->uses[i].is_short)
            command_line_short_help(stdout, c->tool_bit, usage, summary);
        else
            command_line_help(stdout, c->tool_bit, usage, summary);
        return true;
    }
    return false;
}
