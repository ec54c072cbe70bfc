/* Keeps what plugins print apart from what a tool prints: while plugins run, their standard output goes to stderr. */
#ifndef CORE_PLUGIN_OUTPUT_H
#define CORE_PLUGIN_OUTPUT_H

/* Sends descriptor 1 to where 2 goes. Gives what plugin_output_restore wants; -1 when there is no standard output. */
int plugin_output_divert(void);
void plugin_output_restore(int kept);

#endif
