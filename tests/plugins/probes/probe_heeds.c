/* A backend that heeds a hint. */
#include "probe_heeds.h"

PROBE_HEEDS("test.probe-heeds", "cache");
