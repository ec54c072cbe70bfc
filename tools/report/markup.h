/* XML and SVG text: escaped, with coordinates that print the same everywhere.
 *
 * Whatever comes from a user goes through markup_text or a function here that says "any text"; it may hold any bytes.
 * Characters that XML cannot hold become U+FFFD. Coordinates are pixels, y downwards. */
#ifndef TOOLS_REPORT_MARKUP_H
#define TOOLS_REPORT_MARKUP_H

#include "ir/base/text.h"

/* Any text, as the content of an element or of an attribute in double quotes. */
void markup_text(text_buffer *t, str s);
/* 1234567 as 1,234,567. `out` has space for 32 bytes; returns it. */
const char *markup_thousands(double v, char *out);
/* 3.4 MiB; below 1 KiB: 17 B. Likewise. */
const char *markup_bytes(double v, char *out);
/* 12.3 % of a whole; 0 of nothing. Likewise. */
const char *markup_percent(double part, double whole, char *out);

/* ---- pictures ---- */
typedef enum svg_font { SVG_PLAIN, SVG_SMALL, SVG_CODE, SVG_TITLE } svg_font;
typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;

typedef struct svg {
    text_buffer *out;
    const char *page; /* what links to lines begin with: "" inside the page, "index.html" in a file of its own */
} svg;

/* `title`: any text. */
void svg_begin(svg *v, double width, double height, str title);
void svg_end(svg *v);
/* What follows shows `hint` (any text) under the pointer and leads to a line of the module; line 0: nowhere. */
void svg_group_begin(svg *v, uint32_t line, str hint);
void svg_group_end(svg *v, uint32_t line);
/* `style`: more attributes, or "". */
void svg_rect(svg *v, double x, double y, double width, double height, double radius, const char *fill,
              const char *style);
void svg_line(svg *v, double x1, double y1, double x2, double y2, const char *stroke, double width, const char *style);
/* Any text at its base line; more than `width` pixels of it end in an ellipsis. `width` 0: all of it. */
void svg_text(svg *v, double x, double y, svg_anchor anchor, svg_font font, const char *fill, double width, str s);
/* The same of a NUL-ended text. */
void svg_label(svg *v, double x, double y, svg_anchor anchor, svg_font font, const char *fill, const char *s);
/* A curve that ends in an arrow head: leaves (x1, y1) and reaches (x2, y2) downwards, or sideways. */
typedef enum svg_course { SVG_DOWN, SVG_ACROSS } svg_course;
void svg_arrow(svg *v, double x1, double y1, double x2, double y2, svg_course course, const char *stroke,
               const char *style);
/* Pixels that a text takes, about. */
double svg_width(svg_font font, str s);
/* A scale below a picture: marks at round numbers from `lo` to `hi`, at x .. x + width. */
void svg_scale(svg *v, double x, double y, double width, double height, double lo, double hi, const char *unit);

/* A colour of the n-th of many things. */
const char *markup_nth_colour(uint32_t n);

#endif
