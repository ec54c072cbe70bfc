/* A backend that heeds as a hint what no op calls one. */
#include "probe_heeds.h"

PROBE_HEEDS("test.probe-heeds-unknown", "stages");
