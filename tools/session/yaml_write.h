/* Trees as YAML that reads back the same. */
#ifndef TOOLS_SESSION_YAML_WRITE_H
#define TOOLS_SESSION_YAML_WRITE_H

#include "core/files/yaml_tree.h"

/* Writes `node` in block style, `indent` columns deep, starting after what is already on the line (a key or a dash);
 * ends with a newline. With `origins` each scalar is followed by its place as a comment. */
void yaml_write(text_buffer *t, const yaml_node *node, uint32_t indent, bool origins);
/* "  # file:line" */
void yaml_write_origin(text_buffer *t, src_pos at);

#endif
