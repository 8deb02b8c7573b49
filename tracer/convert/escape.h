/* SPDX-License-Identifier: MIT */
/*
 * Names and values may be any bytes; other formats take only some. Text for CSV and JSON is UTF-8: a
 * backslash becomes two, and NUL and every byte that is not part of UTF-8 become \xHH. So the bytes
 * can be had back, and a name of ordinary characters looks as it is.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

#include "event.h"
#include "sink.h"

/* Bytes of the character at `p` (1..4), or 0 if no valid UTF-8 character is there. */
size_t utf8_length(const char *p, size_t size);
/* All of it valid, and no NUL in it. */
bool text_is_plain(struct text t);

/* As a field of RFC 4180, in quotes where it needs them. */
void escape_csv(struct sink *s, struct text t);
/* As a JSON string, quotes included. */
void escape_json(struct sink *s, struct text t);
/* One word for a line or a file name: letters, digits and ._-+=,@ stay, other bytes become %hh. The
 * caller frees it. */
char *escape_word(struct text t);

#endif
