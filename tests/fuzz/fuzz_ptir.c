/* Any bytes: parsing ends in a module or in a diagnostic. */
#include "tests/fuzz/round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_module((str){(const char *)data, size});
    return 0;
}
