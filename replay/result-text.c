/* SPDX-License-Identifier: MIT */
#include "result-text.h"

#include <string.h>

#include "cleanup.h"
#include "vec.h"

char *clean_text(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p; p++) {
		unsigned more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc2 ? 1 : 0;
		bool bad = *p < 0x20 || *p == 0x7f || (*p >= 0x80 && !more) || *p > 0xf4;
		for (unsigned i = 1; i <= more && !bad; i++)
			bad = (p[i] & 0xc0) != 0x80;
		bad |= *p == 0xc2 && p[1] < 0xa0;
		if (bad)
			*p = '?';
		else
			p += more;
	}
	return text;
}

json_t *json_text(const char *text)
{
	if (!text)
		return json_null();
	auto_free char *clean = clean_text(xstrdup(text));
	json_t *value = json_string(clean);
	/* What is left to refuse are overlong forms and surrogates. */
	return value ? value : json_string("?");
}

char *shell_word(const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_./:=,+-@%")])
		return xstrdup(word);
	char *out = xmalloc(4 * strlen(word) + 3), *p = out;
	*p++ = '\'';
	for (; *word; word++)
		p = *word == '\'' ? stpcpy(p, "'\\''") : (*p = *word, p + 1);
	*p++ = '\'';
	*p = '\0';
	return out;
}
