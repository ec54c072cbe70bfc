/* A backend that heeds a hint. */
#define PROBE "test.probe-heeds"
#define HINT "cache"
#include "probe_heeds.h"
