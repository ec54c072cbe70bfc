/* What schedule.c and schedule_file.c share: pins as read, decisions as taken down. */
#ifndef CORE_FILES_SCHEDULE_IMPL_H
#define CORE_FILES_SCHEDULE_IMPL_H

#include "core/files/schedule.h"
#include "core/files/schedule_index.h"

typedef struct schedule_pin {
    schedule_key key;
    const yaml_node *value;
    src_pos at; /* of the whole entry */
    bool is_asked;
    int64_t answer[SCHEDULE_VALUES_MAX]; /* what was given out when it was asked for */
} schedule_pin;

typedef struct schedule_decision schedule_decision;
struct schedule_decision {
    schedule_key key;
    schedule_decision *next;
    const char *origin, *limit;
    uint32_t count;
    bool is_mapping, is_pinned, has_cost;
    double cost;
    const char *const *keys, *const *values; /* as they are written */
};

struct schedule {
    arena *a;
    diag_engine *d;
    const yaml_node *machine; /* that the file names, or NULL */
    schedule_pin *pins;
    uint32_t pin_count;
    bool is_refused;
    schedule_decision *first, *last; /* in the order they were made */
    struct search_space *space;      /* or NULL */
    uint32_t decision_count;
    schedule_index pin_index, decision_index;
    schedule_decision *kept; /* the last one that a restart leaves, or NULL */
    uint32_t kept_count;
    /* Of the function and state of the module that a path was asked for last; the table from the second time on. */
    struct {
        const module *module;
        op_id function;
        uint64_t epoch;
        arena *arena;
        path_table *table;
    } paths;
};

#endif
