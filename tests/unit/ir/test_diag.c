#include "ir/base/diag.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One engine that prints to memory. */
typedef struct capture {
    diag_engine *d;
    FILE *out;
    char *text;
    size_t n;
} capture;

static void begin(capture *c, int max_errors)
{
    c->text = NULL;
    c->out = open_memstream(&c->text, &c->n);
    assert_non_null(c->out);
    c->d = diag_create(c->out, max_errors);
}

static void expect_and_end(capture *c, const char *want)
{
    diag_destroy(c->d);
    fclose(c->out);
    assert_string_equal(c->text, want);
    free(c->text);
}

TEST(diag_prints_place_code_line_and_caret)
{
    capture c;
    begin(&c, 0);
    diag_add_source(c.d, "a.ptir", STR("first\n  second line\nthird"));
    diag_error(c.d, (src_pos){"a.ptir", 2, 10}, &E0101, "found %d of %s", 3, "them");
    diag_note(c.d, (src_pos){"a.ptir", 2, 10}, "same place, no second caret");
    diag_note(c.d, (src_pos){"a.ptir", 3, 1}, "elsewhere");
    diag_warning(c.d, (src_pos){"a.ptir", 0, 0}, &E0101, "whole file");
    diag_note(c.d, NO_POS, "no place");
    assert_int_equal(diag_error_count(c.d), 1);
    assert_int_equal(diag_record_count(c.d), 5);
    assert_string_equal(diag_record_at(c.d, 0)->text, "found 3 of them");
    assert_string_equal(diag_record_at(c.d, 0)->code, "E0101");
    assert_null(diag_record_at(c.d, 5));
    expect_and_end(&c, "a.ptir:2:10: error: [E0101] found 3 of them\n"
                       "  second line\n"
                       "         ^\n"
                       "a.ptir:2:10: note: same place, no second caret\n"
                       "a.ptir:3:1: note: elsewhere\n"
                       "third\n"
                       "^\n"
                       "a.ptir: warning: [E0101] whole file\n"
                       "note: no place\n");
}

TEST(diag_shows_tabs_controls_and_bad_utf8_safely)
{
    capture c;
    begin(&c, 0);
    diag_add_source(c.d, "a", STR("\tx\x1B[2J\xFF\xC3\xBC\xE2\x80\xAE!y"));
    diag_error(c.d, (src_pos){"a", 1, 13}, &E0101, "esc \x1B bidi \xE2\x80\xAE");
    expect_and_end(&c, "a:1:13: error: [E0101] esc \\x1b bidi <U+202E>\n"
                       "    x\\x1b[2J\\xff\xC3\xBC<U+202E>!y\n"
                       "                         ^\n");
}

TEST(diag_windows_long_lines_around_the_caret)
{
    capture c;
    begin(&c, 0);
    char line[1000];
    memset(line, '.', sizeof line);
    line[500] = 'X';
    diag_add_source(c.d, "a", (str){line, sizeof line});
    diag_error(c.d, (src_pos){"a", 1, 501}, &E0101, "x");
    diag_destroy(c.d);
    fclose(c.out);
    char *second = strchr(c.text, '\n') + 1;
    char *third = strchr(second, '\n') + 1;
    assert_int_equal(third - second, 3 + 120 + 3 + 1);
    assert_int_equal(second[strcspn(third, "^")], 'X');
    free(c.text);
}

TEST(diag_counts_what_it_does_not_print)
{
    capture c;
    begin(&c, 2);
    for (int i = 0; i < 5000; i++) {
        diag_error(c.d, NO_POS, &E0101, "number %d", i);
        diag_note(c.d, NO_POS, "why %d", i);
    }
    assert_int_equal(diag_error_count(c.d), 5000);
    assert_int_equal(diag_record_count(c.d), 1000);
    expect_and_end(&c, "error: [E0101] number 0\nnote: why 0\nerror: [E0101] number 1\nnote: why 1\n"
                       "4998 more errors not shown\n");
}

/* A note with a code is seen after a remark that is not, and counted; its lines cannot pass for other diagnostics. */
TEST(diag_prints_notes_that_belong_to_nothing)
{
    capture c;
    begin(&c, 2);
    diag_report(c.d, DIAG_REMARK, NO_POS, "r", STR("not shown"));
    for (int i = 0; i < 3; i++) diag_report(c.d, DIAG_NOTE, NO_POS, "n", STR("[1\na:1: error: 2]\n"));
    expect_and_end(&c, "note: [n] [1\n    a:1: error: 2]\n    \n"
                       "note: [n] [1\n    a:1: error: 2]\n    \n"
                       "1 more note not shown\n");
}

TEST(diag_says_the_path_of_an_op_once)
{
    capture c;
    begin(&c, 0);
    diag_set_path(c.d, STR("@f/x"));
    diag_error(c.d, (src_pos){"a", 1, 0}, &E0101, "wrong");
    diag_set_path(c.d, STR("@f/y"));
    diag_note(c.d, (src_pos){"a", 2, 0}, "another op");
    diag_set_path(c.d, STR("@f/x"));
    diag_note(c.d, (src_pos){"a", 3, 0}, "the same op");
    diag_note(c.d, NO_POS, "no op");
    diag_error(c.d, (src_pos){"a", 4, 0}, &E0101, "no op either");
    diag_set_path(c.d, STR("@f/x#2"));
    diag_note(c.d, NO_POS, "of no op, about one");
    assert_string_equal(diag_record_at(c.d, 0)->path, "@f/x");
    assert_null(diag_record_at(c.d, 2)->path);
    expect_and_end(&c, "a:1: error: [E0101] wrong [@f/x]\n"
                       "a:2: note: another op [@f/y]\n"
                       "a:3: note: the same op\n"
                       "note: no op\n"
                       "a:4: error: [E0101] no op either\n"
                       "note: of no op, about one [@f/x#2]\n");
}

/* A path takes time in the length of its function, and remarks may be as many as ops. */
TEST(diag_wants_the_paths_that_somebody_sees)
{
    capture c;
    begin(&c, 2);
    assert_true(diag_wants_path(c.d, DIAG_ERROR) && diag_wants_path(c.d, DIAG_WARNING));
    assert_false(diag_wants_path(c.d, DIAG_REMARK));
    diag_report(c.d, DIAG_REMARK, NO_POS, "a/b", STR("not shown"));
    assert_false(diag_wants_path(c.d, DIAG_NOTE));
    diag_keep_remarks(c.d, true);
    assert_true(diag_wants_path(c.d, DIAG_REMARK));
    diag_keep_remarks(c.d, false);
    diag_show_remarks(c.d, true);
    assert_true(diag_wants_path(c.d, DIAG_REMARK) && diag_wants_path(c.d, DIAG_NOTE));
    diag_show_paths(c.d, false);
    assert_false(diag_wants_path(c.d, DIAG_REMARK) || diag_wants_path(c.d, DIAG_ERROR));
    diag_show_paths(c.d, true);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(diag_wants_path(c.d, DIAG_ERROR), i < 2);
        diag_error(c.d, NO_POS, &E0101, "number %d", i);
        assert_int_equal(diag_wants_path(c.d, DIAG_NOTE), i < 2);
    }
    assert_true(diag_wants_path(c.d, DIAG_WARNING));
    diag_keep_remarks(c.d, true);
    for (int i = 0; i < 2000; i++) diag_report(c.d, DIAG_REMARK, NO_POS, "a/b", STR("one of many"));
    assert_false(diag_wants_path(c.d, DIAG_REMARK));
    expect_and_end(&c, "error: [E0101] number 0\n"
                       "error: [E0101] number 1\n"
                       "remark: [a/b] one of many\n"
                       "1 more error not shown\n"
                       "1999 more remarks not shown\n");
}

TEST(diag_reads_the_line_from_disk)
{
    char name[] = "/tmp/test_diag_XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "one\ntwo\r\n", 9), 9);
    close(fd);
    capture c;
    begin(&c, 0);
    diag_report(c.d, DIAG_ERROR, (src_pos){name, 2, 3}, "acme.pass/what", STR("bad"));
    diag_error(c.d, (src_pos){name, 9, 1}, &E0101, "beyond the end");
    unlink(name);
    char want[400];
    snprintf(want, sizeof want,
             "%s:2:3: error: [acme.pass/what] bad\ntwo\n  ^\n%s:9:1: error: [E0101] beyond the end\n", name, name);
    expect_and_end(&c, want);
}

/* Opening a pipe that nobody writes to would block. */
TEST(diag_leaves_alone_what_is_no_regular_file)
{
    char folder[] = "/tmp/test_diag_XXXXXX";
    assert_non_null(mkdtemp(folder));
    char name[64];
    snprintf(name, sizeof name, "%s/pipe", folder);
    assert_int_equal(mkfifo(name, 0600), 0);
    capture c;
    begin(&c, 0);
    diag_error(c.d, (src_pos){name, 1, 1}, &E0101, "a pipe");
    unlink(name);
    rmdir(folder);
    char want[200];
    snprintf(want, sizeof want, "%s:1:1: error: [E0101] a pipe\n", name);
    expect_and_end(&c, want);
}

TEST(diag_codes_are_unique_and_have_summaries)
{
    assert_non_null(diag_code_at(0));
    for (uint32_t i = 0; diag_code_at(i) != NULL; i++) {
        const diag_code_info *code = diag_code_at(i);
        assert_int_equal(strlen(code->code), 5);
        assert_true(strlen(code->summary) > 5);
        if (i > 0) assert_true(strcmp(diag_code_at(i - 1)->code, code->code) < 0);
    }
}
