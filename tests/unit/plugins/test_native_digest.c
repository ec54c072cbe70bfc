/* plugins/shared/native/native_digest.h: the examples of FIPS 180-4, and texts of a key. */
#include "tests/unit/unit.h"

#include <native_digest.h>

#include <string.h>

static void assert_digest(native_hash *h, const char *expected)
{
    char text[NATIVE_DIGEST_DIGITS + 1];
    const native_digest d = native_hash_end(h);
    native_digest_print(&d, text);
    assert_string_equal(text, expected);
}

TEST(the_examples_of_the_standard)
{
    native_hash none = native_hash_begin();
    assert_digest(&none, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    native_hash short_one = native_hash_begin();
    native_hash_add(&short_one, "abc", 3);
    assert_digest(&short_one, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    native_hash longer = native_hash_begin();
    native_hash_add(&longer, two_blocks, strlen(two_blocks));
    assert_digest(&longer, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(a_million_bytes_in_uneven_pieces)
{
    char letters[1000];
    memset(letters, 'a', sizeof letters);
    native_hash h = native_hash_begin();
    size_t left = 1000000;
    for (size_t n = 1; left > 0; n = n % 997 + 1) {
        const size_t taken = n < left ? n : left;
        native_hash_add(&h, letters, taken);
        left -= taken;
    }
    assert_digest(&h, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(plain_c_and_instructions_of_the_cpu_agree)
{
    uint8_t bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * i * 7 + i);
    for (size_t n = 0; n < sizeof bytes; n += 31) {
        native_hash a = native_hash_begin(), b = native_hash_begin_plain();
        native_hash_add(&a, bytes, n);
        native_hash_add(&b, bytes, n);
        const native_digest x = native_hash_end(&a), y = native_hash_end(&b);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static native_digest digest_of(const char *a, const char *b)
{
    native_hash h = native_hash_begin();
    native_hash_add_text(&h, a);
    native_hash_add_text(&h, b);
    return native_hash_end(&h);
}

TEST(where_a_text_ends_counts)
{
    const native_digest a = digest_of("ab", "c"), b = digest_of("a", "bc"), none = digest_of("ab", NULL),
                        empty = digest_of("ab", ""), same = digest_of("ab", "c");
    assert_memory_not_equal(&a, &b, sizeof a);
    assert_memory_not_equal(&none, &empty, sizeof none);
    assert_memory_equal(&a, &same, sizeof a);
}
