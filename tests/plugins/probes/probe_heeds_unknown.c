/* A backend that heeds as a hint what no op calls one. */
#define PROBE "test.probe-heeds-unknown"
#define HINT "stages"
#include "probe_heeds.h"
