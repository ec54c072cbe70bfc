/* A good note and no entry. */
#include <pto/abi.h> /* IWYU pragma: keep (the numbers in the note) */
#include <pto/note.h>

PTO_NOTE_EMIT("pto", "test.abi-no-entry", "pass:test.abi-no-entry", "");
