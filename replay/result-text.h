/* SPDX-License-Identifier: MIT */
/* Text that comes from elsewhere (mount options, host names, files of strangers) made safe to show. */
#ifndef RESULT_TEXT_H
#define RESULT_TEXT_H

#include <jansson.h>

/* Replace bytes that are not UTF-8 and characters that would move a terminal's cursor by '?', in
 * place. Returns its argument. */
char *clean_text(char *text);
/* A JSON string of the cleaned text; null for NULL. */
json_t *json_text(const char *text);
/* One word of a command line as a shell would need it. Caller owns it. */
char *shell_word(const char *word);

#endif
