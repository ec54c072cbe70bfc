#include "core/host/flight_recorder.h"

#include "ir/base/status.h"

#include <string.h>
#include <sys/mman.h>

flight_recorder *flight_recorder_create(void)
{
    void *page = mmap(NULL, sizeof(flight_recorder), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    BUG_IF(page == MAP_FAILED, "no page for the flight recorder");
    flight_recorder *r = page;
    r->module_fd = -1;
    return r;
}

void flight_recorder_set(char *field, size_t field_bytes, str text)
{
    const size_t n = text.n < field_bytes - 1 ? text.n : field_bytes - 1;
    if (n > 0) memcpy(field, text.p, n);
    field[n] = '\0';
}

static void make_plain(char *field, size_t field_bytes)
{
    field[field_bytes - 1] = '\0';
    if (str_is_plain_line(str_from(field))) return;
    for (char *p = field; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f) *p = '?';
}

void flight_recorder_read(const flight_recorder *r, flight_recorder *out)
{
    *out = *r;
#define PLAIN(field) make_plain(out->field, sizeof out->field)
    PLAIN(plugin);
    PLAIN(role);
    PLAIN(pass);
    PLAIN(step);
    PLAIN(function);
    PLAIN(file);
    PLAIN(parent);
    out->folder[sizeof out->folder - 1] = '\0';
}

void flight_recorder_clear(flight_recorder *r)
{
    r->plugin[0] = r->role[0] = r->pass[0] = r->step[0] = r->function[0] = r->file[0] = '\0';
    r->line = 0;
}

bool flight_recorder_phase(flight_recorder *r, const char *phase)
{
    if (r->stopped) return true;
    FLIGHT_SET(r, phase, str_from(phase));
    r->stopped = flight_recorder_stop(r);
    return r->stopped;
}
