/* Functions of a module that differ in their names, in those of their nests and values, in locations and in the numbers
 * of scalar constants of float types alone are of one class: what is found out about one of them is so for all. [one
 * thread] */
#ifndef IR_VERIFY_FUNCTION_CLASS_H
#define IR_VERIFY_FUNCTION_CLASS_H

#include "ir/module.h"

enum { FUNCTION_FACTS_MAX = 128 };

typedef struct function_class {
    uint64_t content[2];
    struct function_class *next; /* in its bucket, or of those to use again */
    uint32_t members;
    bool is_alone; /* nothing else is of this class, whatever it holds */
    ir_level level;
    /* For the owner, 0 at first: */
    uint32_t verified;
    uint64_t facts[FUNCTION_FACTS_MAX / 64];
} function_class;

typedef struct function_classes function_classes;

/* Lives in the arena. */
function_classes *function_classes_create(arena *a, const module *m);
/* The class of a function as it is now. One that is asked for alone, calls another function, holds an op of a plugin or
 * uses a value before it is defined has a class of its own. */
function_class *function_class_join(function_classes *s, op_id f, bool alone);
/* The function changed, or is gone. A class without members is forgotten. */
void function_class_leave(function_classes *s, function_class *c);

#endif
