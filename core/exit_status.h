/* The exit statuses of all tools, and how functions hand one up. docs/README.md lists them for users. */
#ifndef CORE_EXIT_STATUS_H
#define CORE_EXIT_STATUS_H

typedef enum exit_status {
    EXIT_STATUS_OK = 0,
    EXIT_STATUS_NO = 1,     /* ran, but the result is negative: outputs or pipelines differ */
    EXIT_STATUS_USAGE = 2,  /* command line, YAML, missing input file */
    EXIT_STATUS_PLUGIN = 3, /* plugin missing, ambiguous or refused */
    EXIT_STATUS_INPUT = 4,  /* IR text, tensor file, symbol binding */
    EXIT_STATUS_FAILED = 5, /* a pass or backend reported an error */
    EXIT_STATUS_BLAMED = 6, /* verifier or property check blames a step */
    EXIT_STATUS_INTERNAL = 70,
    EXIT_STATUS_OUTPUT = 74,   /* an output cannot be written */
    EXIT_STATUS_RESOURCES = 75 /* time or memory ran out */
} exit_status;

/* Forwards an exit status that is not EXIT_STATUS_OK. */
#define TRY_EXIT(call)                                           \
    do {                                                         \
        const exit_status exit_status_ = (call);                 \
        if (exit_status_ != EXIT_STATUS_OK) return exit_status_; \
    } while (0)

/* Returns the exit status `is` when the call, which returns a status of ir/base/status.h, has failed. */
#define TRY_AS(is, call)               \
    do {                               \
        if ((call) != OK) return (is); \
    } while (0)

#endif
