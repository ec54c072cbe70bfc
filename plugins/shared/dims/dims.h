/* How the dims of a group of tensor ops become axes of one nest.
 *
 * Masks say which dims: bit i is dim i counted from the end. The wide dims of a space, those whose extent is not the
 * constant 1, fall into rows before columns when what its values lack and what is reduced says so: the space is split.
 * Else it is a box: its axes are runs of neighbouring dims that all values treat alike. pto.fuse asks before there is a
 * group, and pto.tile when it makes the nest. */
#ifndef DIMS_H
#define DIMS_H

#include <pto/plugin.h>

/* What is known of one space. Begin with `wide` and zeros; the order of notes does not matter. */
typedef struct dims_space {
    uint32_t wide;
    uint32_t rows, columns; /* dims that some value says to be rows or columns */
    uint32_t cuts;          /* bit i: some value tells dim i from the next wide one outwards */
    uint32_t reduced;       /* by all reductions */
    uint8_t reduces_apart;  /* along different dims */
} dims_space;

/* The lowest bit of a set of dims; 0 for the empty set. */
static inline uint32_t dims_lowest(uint32_t mask) { return mask & (~mask + 1u); }
/* Dims of a type that are wide. */
uint32_t dims_of_type(pto_type type);
/* Dims that a reduction really shortens. */
uint32_t dims_reduced(pto_op op);

/* A value varies along the dims `present`, and is repeated along the others. */
void dims_note_value(dims_space *s, uint32_t present);
/* Dims that a reduction runs along and those of its operand that it leaves. */
void dims_note_reduction(dims_space *s, uint32_t reduced, uint32_t left);

/* Whether all dims are rows followed by columns, so that values are tiles of two dims. */
int dims_are_split(const dims_space *s);
/* Of a split space: the columns; the other dims are rows. */
uint32_t dims_columns(const dims_space *s);
/* Of a box: the axis whose innermost dim is that bit. */
uint32_t dims_axis(const dims_space *s, uint32_t first);

#endif
