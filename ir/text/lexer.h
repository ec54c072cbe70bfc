/* Tokens of the text form. The lexer works on NUL-terminated text in place: tokens point into it, nothing is
 * copied. [one thread] */
#ifndef IR_TEXT_LEXER_H
#define IR_TEXT_LEXER_H

#include "ir/base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* What is longer could not be printed in a line that is read back. */
enum { LEXER_NAME_BYTES = 64 * 1024, LEXER_STRING_BYTES = 128 * 1024 /* without escapes; the parser checks it */ };

/* A single character stands for itself. */
typedef enum token_kind {
    TOK_END = 0,
    TOK_WORD = 128, /* letters, digits, `_` and `.`, not starting with a digit */
    TOK_VALUE,      /* `%x`: text is `x` */
    TOK_SYMBOL,     /* `$x`: text is `x` */
    TOK_AT,         /* `@x`: text is `x` */
    TOK_INT,        /* decimal or 0x, no sign; digits not checked beyond that */
    TOK_FLOAT,      /* with `.` or exponent, no sign */
    TOK_STRING,     /* text is what is between the quotes, escapes as written */
    TOK_ARROW,      /* -> */
    TOK_EQ,
    TOK_NE,
    TOK_LE,
    TOK_GE,
    TOK_BAD,        /* a byte that starts no token, or a sigil without a name */
    TOK_UNCLOSED,   /* a string that its line does not close */
    TOK_BAD_NUMBER, /* digits glued to letters */
    TOK_TOO_LONG    /* a word or name of more than LEXER_NAME_BYTES */
} token_kind;

typedef struct token {
    uint32_t kind;         /* token_kind or a character */
    uint32_t line, column; /* from 1; columns count bytes */
    bool has_escape;
    bool has_dot;  /* values */
    const char *p; /* text, see token_kind */
    uint32_t n;
    const char *start; /* first byte, sigil or quote included */
} token;

typedef struct lexer {
    const char *at;
    const char *line_start;
    uint32_t line;
} lexer;

/* `text` must be NUL-terminated and outlive the lexer. */
void lexer_init(lexer *l, const char *text);
/* Skips white space and comments and reads the token after them. */
void lexer_next(lexer *l, token *out);
/* Is this a character of words and value names? */
bool lexer_is_word_byte(char c);
/* Can the text follow `$`, or with dots after `@`? */
bool lexer_is_name(str s, bool with_dots);
/* Can it follow `%`? */
bool lexer_is_value_name(str s);

/* Appends what a string token stands for: \" \\ \/ \b \f \n \r \t \uXXXX, or with `mlir` the escapes of MLIR, \" \\ \n
 * \t and two hexadecimal digits. Returns the offset of a malformed escape, or -1. */
int64_t lexer_unescape(str raw, bool mlir, text_buffer *out);

#endif
