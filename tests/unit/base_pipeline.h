/* A pipeline with a parameter, a step with an id, nested options and a backend, for tests of what reads and writes
 * such. */
#ifndef TESTS_UNIT_BASE_PIPELINE_H
#define TESTS_UNIT_BASE_PIPELINE_H

static const char base[] = "pto-pipeline: 1\n"
                           "name: base\n"
                           "params:\n"
                           "  vec-bytes: { type: bytes, default: 64KiB, min: 1KiB, doc: upper bound }\n"
                           "passes:\n"
                           "  - pto.canonicalize\n"
                           "  - pass: pto.fuse\n"
                           "    with: { max-ops: 64 }\n"
                           "  - pass: pto.tile\n"
                           "    id: tile\n"
                           "    with:\n"
                           "      strategy: { use: pto.tiling-heuristic, with: { vec-bytes: $params.vec-bytes } }\n"
                           "backend: { use: pto.cpu-sim, with: { timing: true } }\n";

#endif
