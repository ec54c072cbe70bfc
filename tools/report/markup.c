#include "tools/report/markup.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- text ---- */

static bool is_xml(uint32_t c)
{
    if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
    return c != 0xfffe && c != 0xffff && !(c >= 0xd800 && c <= 0xdfff) && !utf8_is_deceptive(c);
}

/* One character at the front of `s`; bytes that are none count one by one. */
static uint32_t take_character(str s, size_t *bytes)
{
    size_t most = s.n < 4 ? s.n : 4;
    /* The longest front that is valid holds at least one whole character, or there is none here. */
    const size_t valid = str_utf8_error((str){s.p, most});
    *bytes = 1;
    if (valid == 0) return 0xfffd;
    return str_utf8_decode((str){s.p, valid}, bytes);
}

void markup_text(text_buffer *t, str s)
{
    while (s.n > 0) {
        size_t n;
        const uint32_t c = take_character(s, &n);
        if (c == '<')
            text_puts(t, "&lt;");
        else if (c == '>')
            text_puts(t, "&gt;");
        else if (c == '&')
            text_puts(t, "&amp;");
        else if (c == '"')
            text_puts(t, "&quot;");
        else if (c == '\'')
            text_puts(t, "&#39;");
        else if (c == 0xfffd || !is_xml(c))
            text_puts(t, "\xef\xbf\xbd");
        else
            text_put(t, s.p, n);
        s = (str){s.p + n, s.n - n};
    }
}

/* ---- numbers ---- */

enum { NUMBER_ROOM = 32 };

const char *markup_thousands(double v, char *out)
{
    char digits[NUMBER_ROOM];
    if (!(fabs(v) < 1e15)) {
        snprintf(out, NUMBER_ROOM, "%g", v);
        return out;
    }
    const int n = snprintf(digits, sizeof digits, "%.0f", v);
    int to = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0 && digits[i - 1] != '-') out[to++] = ',';
        out[to++] = digits[i];
    }
    out[to] = 0;
    return out;
}

const char *markup_bytes(double v, char *out)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    uint32_t unit = 0;
    while (fabs(v) >= 1024 && unit < 4) {
        v /= 1024;
        unit++;
    }
    snprintf(out, NUMBER_ROOM, "%.*f %s", unit == 0 || v == floor(v) ? 0 : 1, v, units[unit]);
    return out;
}

const char *markup_percent(double part, double whole, char *out)
{
    snprintf(out, NUMBER_ROOM, "%.1f\xc2\xa0%%", whole > 0 ? 100 * part / whole : 0.0);
    return out;
}

/* ---- pictures ---- */

static const char style_sheet[] =
    "<style>text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
    ".s{font-size:10.5px}.c{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    ".t{font-size:14px;font-weight:600}a:hover rect{stroke:#111}</style>\n";

void svg_begin(svg *v, double width, double height, str title)
{
    text_printf(v->out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
                "role=\"img\">\n<title>",
                width, height, width, height);
    markup_text(v->out, title);
    text_puts(v->out, "</title>\n");
    text_puts(v->out, style_sheet);
    text_printf(v->out, "<rect width=\"%.0f\" height=\"%.0f\" rx=\"6\" fill=\"#fff\"/>\n", width, height);
}

void svg_end(svg *v) { text_puts(v->out, "</svg>\n"); }

void svg_group_begin(svg *v, uint32_t line, str hint)
{
    if (line)
        text_printf(v->out, "<a href=\"%s#L%u\">", v->page, line);
    else
        text_puts(v->out, "<g>");
    if (hint.n == 0) return;
    text_puts(v->out, "<title>");
    markup_text(v->out, hint);
    text_puts(v->out, "</title>");
}

void svg_group_end(svg *v, uint32_t line) { text_puts(v->out, line ? "</a>\n" : "</g>\n"); }

/* One decimal, none when it is 0, and no minus zero. */
static void put_number(text_buffer *t, double x)
{
    const double tenths = nearbyint(x * 10);
    if (tenths == 0)
        text_putc(t, '0');
    else if (fmod(tenths, 10) == 0)
        text_printf(t, "%.0f", tenths / 10);
    else
        text_printf(t, "%.1f", tenths / 10);
}

static void put_attribute(text_buffer *t, const char *name, double x)
{
    text_printf(t, " %s=\"", name);
    put_number(t, x);
    text_putc(t, '"');
}

void svg_rect(svg *v, double x, double y, double width, double height, double radius, const char *fill,
              const char *style)
{
    text_puts(v->out, "<rect");
    put_attribute(v->out, "x", x);
    put_attribute(v->out, "y", y);
    put_attribute(v->out, "width", width);
    put_attribute(v->out, "height", height);
    if (radius > 0) put_attribute(v->out, "rx", radius);
    text_printf(v->out, " fill=\"%s\"%s%s/>", fill, *style ? " " : "", style);
}

void svg_line(svg *v, double x1, double y1, double x2, double y2, const char *stroke, double width, const char *style)
{
    text_puts(v->out, "<line");
    put_attribute(v->out, "x1", x1);
    put_attribute(v->out, "y1", y1);
    put_attribute(v->out, "x2", x2);
    put_attribute(v->out, "y2", y2);
    if (width != 1) put_attribute(v->out, "stroke-width", width);
    text_printf(v->out, " stroke=\"%s\"%s%s/>", stroke, *style ? " " : "", style);
}

static double advance(svg_font font)
{
    static const double widths[] = {[SVG_PLAIN] = 6.4, [SVG_SMALL] = 5.6, [SVG_CODE] = 6.65, [SVG_TITLE] = 8.6};
    return widths[font];
}

/* Characters, wherever they end. */
static size_t count_characters(str s)
{
    size_t count = 0;
    for (size_t i = 0; i < s.n; i++) count += ((unsigned char)s.p[i] & 0xc0u) != 0x80u;
    return count;
}

double svg_width(svg_font font, str s) { return advance(font) * (double)count_characters(s); }

/* The first `count` characters. */
static str front(str s, size_t count)
{
    size_t i = 0;
    for (; i < s.n; i++) {
        if (((unsigned char)s.p[i] & 0xc0u) == 0x80u) continue;
        if (count-- == 0) break;
    }
    return (str){s.p, i};
}

void svg_text(svg *v, double x, double y, svg_anchor anchor, svg_font font, const char *fill, double width, str s)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    static const char *const fonts[] = {"", " class=\"s\"", " class=\"c\"", " class=\"t\""};
    const bool is_cut = width > 0 && svg_width(font, s) > width;
    const double fits = floor(width / advance(font)) - 1;
    if (is_cut && fits < 2) return;
    text_puts(v->out, "<text");
    put_attribute(v->out, "x", x);
    put_attribute(v->out, "y", y);
    text_printf(v->out, "%s%s fill=\"%s\">", anchors[anchor], fonts[font], fill);
    markup_text(v->out, is_cut ? front(s, (size_t)fits) : s);
    text_puts(v->out, is_cut ? "\xe2\x80\xa6</text>" : "</text>");
}

void svg_label(svg *v, double x, double y, svg_anchor anchor, svg_font font, const char *fill, const char *s)
{
    svg_text(v, x, y, anchor, font, fill, 0, str_from(s));
}

static void put_points(text_buffer *t, const double *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) text_putc(t, ' ');
        put_number(t, numbers[i]);
    }
}

void svg_arrow(svg *v, double x1, double y1, double x2, double y2, svg_course course, const char *stroke,
               const char *style)
{
    const double head = 5, side = course == SVG_DOWN ? 0 : x2 >= x1 ? 1 : -1;
    const double end_x = x2 - side * head, end_y = course == SVG_DOWN ? y2 - head : y2;
    const double bend = course == SVG_DOWN ? (end_y - y1) / 2 : fmax(12, fabs(end_x - x1) / 2) * side;
    const double curve[] = {x1,
                            y1,
                            x1 + (course == SVG_DOWN ? 0 : bend),
                            y1 + (course == SVG_DOWN ? bend : 0),
                            end_x - (course == SVG_DOWN ? 0 : bend),
                            end_y - (course == SVG_DOWN ? bend : 0),
                            end_x,
                            end_y};
    text_puts(v->out, "<path d=\"M");
    put_points(v->out, curve, 2);
    text_puts(v->out, " C");
    put_points(v->out, curve + 2, 6);
    text_printf(v->out, "\" fill=\"none\" stroke=\"%s\"%s%s/><path d=\"M", stroke, *style ? " " : "", style);
    const double down[] = {x2 - 3, end_y, x2 + 3, end_y, x2, y2}, across[] = {end_x, y2 - 3, end_x, y2 + 3, x2, y2};
    put_points(v->out, course == SVG_DOWN ? down : across, 6);
    text_printf(v->out, "z\" fill=\"%s\"/>\n", stroke);
}

/* 1, 2 or 5 times a power of ten, so that about `most` steps fit. */
static double round_step(double range, double most)
{
    const double rough = range / most, power = pow(10, floor(log10(rough)));
    const double parts[] = {1, 2, 5, 10};
    for (uint32_t i = 0; i < 4; i++)
        if (parts[i] * power >= rough) return parts[i] * power;
    return 10 * power;
}

void svg_scale(svg *v, double x, double y, double width, double height, double lo, double hi, const char *unit)
{
    if (!(hi > lo)) return;
    double step = round_step(hi - lo, width / 90);
    if (step < 1) step = 1;
    const double first = ceil(lo / step);
    const uint32_t count = (uint32_t)(floor(hi / step) - first + 1);
    for (uint32_t i = 0; i < count; i++) {
        const double at = (first + i) * step;
        char number[NUMBER_ROOM];
        const double to = x + (at - lo) / (hi - lo) * width;
        svg_line(v, to, y - height, to, y + 4, "#e3e6ea", 1, "");
        svg_label(v, to, y + 15, SVG_MIDDLE, SVG_SMALL, "#5b6570", markup_thousands(at, number));
    }
    svg_line(v, x, y, x + width, y, "#aab2bb", 1, "");
    svg_label(v, x + width, y + 28, SVG_END, SVG_SMALL, "#5b6570", unit);
    text_putc(v->out, '\n');
}

/* ---- colours ---- */

const char *markup_nth_colour(uint32_t n)
{
    static const char *const colours[] = {"#4e79a7", "#e0913a", "#59a14f", "#b07aa1",
                                          "#c75d5f", "#5fa8a2", "#c9a93b", "#8c6d57"};
    return colours[n % (sizeof colours / sizeof *colours)];
}
