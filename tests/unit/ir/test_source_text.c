#include "ir/text/source_text.h"

#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 5 * 1024 * 1024 };

/* A file of LARGE bytes, 'a' to 'z' again and again. */
static int large_file(void)
{
    char path[] = "/tmp/source-text-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    char block[26 * 1024];
    for (size_t i = 0; i < sizeof block; i++) block[i] = (char)('a' + i % 26);
    for (size_t done = 0; done < LARGE; done += sizeof block)
        assert_int_equal(write(fd, block, sizeof block), sizeof block);
    assert_int_equal(ftruncate(fd, LARGE), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

TEST(source_text_reads_whatever_was_expected)
{
    static const size_t expected[] = {0, 1, LARGE - 1, LARGE, LARGE + 1, 4 * (size_t)LARGE};
    const int fd = large_file();
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        source_text t;
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        assert_int_equal(source_text_read(&t, fd, expected[i], SIZE_MAX), OK);
        assert_int_equal(t.n, LARGE);
        assert_int_equal(t.bytes[t.n], 0);
        assert_int_equal(t.bytes[LARGE - 1], 'a' + (LARGE - 1) % 26);
        source_text_close(&t);
    }
    close(fd);
}

TEST(source_text_stops_behind_the_limit)
{
    const int fd = large_file();
    source_text t;
    assert_int_equal(source_text_read(&t, fd, 100, 100000), OK);
    assert_true(t.n > 100000);
    assert_true(t.n < LARGE);
    assert_int_equal(t.bytes[t.n], 0);
    source_text_close(&t);
    close(fd);
}

TEST(source_text_drops_only_what_stands_before)
{
    const int fd = large_file();
    source_text t;
    assert_int_equal(source_text_read(&t, fd, LARGE, SIZE_MAX), OK);
    assert_false(source_text_drop(&t, t.bytes + 1000));
    assert_int_equal(t.bytes[0], 'a');
    const size_t at = 3 * (size_t)1024 * 1024 + 17;
    assert_true(source_text_drop(&t, t.bytes + at));
    assert_int_equal(t.bytes[0], 0);
    assert_true(t.dropped <= at);
    for (size_t i = at; i < LARGE; i++) {
        if (t.bytes[i] != (char)('a' + i % 26)) fail_msg("byte %zu is gone", i);
    }
    assert_false(source_text_drop(&t, t.bytes + at));
    source_text_close(&t);
    close(fd);
}

TEST(source_text_at_rest_can_be_read_again)
{
    const int fd = large_file();
    source_text t;
    assert_int_equal(source_text_read(&t, fd, LARGE, SIZE_MAX), OK);
    source_text_rest(&t, 0, 1024 * 1024 + 17);
    source_text_rest(&t, 1024 * 1024 + 17, LARGE);
    for (size_t i = 0; i < LARGE; i++) {
        if (t.bytes[i] != (char)('a' + i % 26)) fail_msg("byte %zu is gone", i);
    }
    assert_int_equal(t.bytes[LARGE], 0);
    source_text_close(&t);
    close(fd);
}

TEST(source_text_says_when_nothing_can_be_read)
{
    source_text t;
    assert_int_equal(source_text_read(&t, -1, 100, SIZE_MAX), FAILED);
    source_text_close(&t);
}
