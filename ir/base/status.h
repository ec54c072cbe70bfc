/* How functions report failure inside ir/ and core/.
 *
 * Three kinds of wrong exist (design: style, rule 5). The user's: a diagnostic is reported, then FAILED
 * travels up through TRY. Ours: BUG_IF, always on. The machine's: out of memory, handled once in arena.c. */
#ifndef IR_BASE_STATUS_H
#define IR_BASE_STATUS_H

typedef enum status { OK = 0, FAILED = -1 } status;

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))

/* Forwards a failure that has already been reported. */
#define TRY(call)                        \
    do {                                 \
        if ((call) != OK) return FAILED; \
    } while (0)

/* Prints "internal error: ..." with file and line and aborts; the supervisor adds step and plugin. [any] */
__attribute__((noreturn)) void bug_at(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);

#define BUG_IF(condition, ...)                                                           \
    do {                                                                                 \
        if (__builtin_expect(!!(condition), 0)) bug_at(__FILE__, __LINE__, __VA_ARGS__); \
    } while (0)

#endif
