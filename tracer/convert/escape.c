/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include "vec.h"

/* Rows of the table of well-formed sequences in the Unicode standard, chapter 3.9. */
static const struct sequence {
	uint8_t first, last; /* of the first byte */
	uint8_t low, high;   /* of the second */
	uint8_t length;
} sequences[] = {
	{0xc2, 0xdf, 0x80, 0xbf, 2},
	{0xe0, 0xe0, 0xa0, 0xbf, 3},
	{0xe1, 0xec, 0x80, 0xbf, 3},
	{0xed, 0xed, 0x80, 0x9f, 3},
	{0xee, 0xef, 0x80, 0xbf, 3},
	{0xf0, 0xf0, 0x90, 0xbf, 4},
	{0xf1, 0xf3, 0x80, 0xbf, 4},
	{0xf4, 0xf4, 0x80, 0x8f, 4},
};

static const struct sequence *sequence_of(uint8_t first)
{
	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++)
		if (first >= sequences[i].first && first <= sequences[i].last)
			return &sequences[i];
	return NULL;
}

size_t utf8_length(const char *text, size_t size)
{
	const uint8_t *p = (const uint8_t *)text;

	if (!size)
		return 0;
	if (p[0] < 0x80)
		return 1;
	const struct sequence *seq = sequence_of(p[0]);
	if (!seq || size < seq->length || p[1] < seq->low || p[1] > seq->high)
		return 0;
	for (size_t i = 2; i < seq->length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return seq->length;
}

bool text_is_plain(struct text t)
{
	for (size_t at = 0, n; at < t.size; at += n) {
		n = utf8_length(t.data + at, t.size - at);
		if (!n || !t.data[at])
			return false;
	}
	return true;
}

static char hex_digit(unsigned v)
{
	return "0123456789abcdef"[v & 15];
}

static void put_hex(struct sink *s, uint8_t c)
{
	sink_char(s, hex_digit(c >> 4));
	sink_char(s, hex_digit(c));
}

/* ASCII that stands for itself in both formats. */
static bool is_simple(uint8_t c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != ',';
}

/* How many bytes from here on are copied as they are. */
static size_t simple_run(struct text t, size_t at)
{
	size_t end = at;

	while (end < t.size && is_simple((uint8_t)t.data[end]))
		end++;
	return end - at;
}

/* One character that is not simple; returns its bytes. `\` in the output is written `slash`. */
static size_t put_other(struct sink *s, struct text t, size_t at, const char *slash)
{
	uint8_t c = (uint8_t)t.data[at];
	size_t n = utf8_length(t.data + at, t.size - at);

	if (c == '\\') {
		sink_text(s, slash);
		sink_text(s, slash);
	} else if (!n || !c) {
		sink_text(s, slash);
		sink_char(s, 'x');
		put_hex(s, c);
		return 1;
	} else {
		sink_bytes(s, t.data + at, n);
	}
	return n;
}

void escape_csv(struct sink *s, struct text t)
{
	size_t at = simple_run(t, 0);

	if (at == t.size) {
		sink_bytes(s, t.data, t.size);
		return;
	}
	sink_char(s, '"');
	sink_bytes(s, t.data, at);
	while (at < t.size) {
		if (t.data[at] == '"')
			sink_char(s, '"');
		at += put_other(s, t, at, "\\");
		size_t run = simple_run(t, at);
		sink_bytes(s, t.data + at, run);
		at += run;
	}
	sink_char(s, '"');
}

/* A quote or a control character; the rest is as in every format. */
static size_t put_json(struct sink *s, struct text t, size_t at)
{
	uint8_t c = (uint8_t)t.data[at];

	if (c == '"') {
		sink_lit(s, "\\\"");
		return 1;
	}
	if ((c && c < ' ') || c == 0x7f) {
		sink_lit(s, "\\u00");
		put_hex(s, c);
		return 1;
	}
	return put_other(s, t, at, "\\\\");
}

void escape_json(struct sink *s, struct text t)
{
	size_t at = 0;

	sink_char(s, '"');
	while (at < t.size) {
		size_t run = simple_run(t, at);
		sink_bytes(s, t.data + at, run);
		at += run;
		if (at < t.size)
			at += put_json(s, t, at);
	}
	sink_char(s, '"');
}

static bool is_word(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("._-+=,@", c));
}

char *escape_word(struct text t)
{
	char *word = xmalloc(t.size * 3 + 1), *to = word;

	for (size_t i = 0; i < t.size; i++) {
		uint8_t c = (uint8_t)t.data[i];
		if (is_word(c)) {
			*to++ = (char)c;
			continue;
		}
		*to++ = '%';
		*to++ = hex_digit(c >> 4);
		*to++ = hex_digit(c);
	}
	*to = '\0';
	return word;
}
