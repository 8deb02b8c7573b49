/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BOLD  "\033[1m"
#define RED   "\033[31m"
#define PLAIN "\033[0m"

void layout_heading(const struct layout *l, const char *title)
{
	fprintf(l->out, "\n%s%s%s\n", l->color ? BOLD : "", title, l->color ? PLAIN : "");
}

/* Terminal columns of the first `size` bytes of UTF-8. */
static unsigned columns(const char *s, size_t size)
{
	unsigned n = 0;

	for (size_t i = 0; i < size; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return n;
}

/* Up to the next blank where a line may end: not between a number and its unit. */
static size_t word_size(const char *text)
{
	size_t size = strcspn(text, " ");

	while (size && text[size] && isdigit((unsigned char)text[size - 1]))
		size += 1 + strcspn(text + size + 1, " ");
	return size;
}

static void wrap(const struct layout *l, unsigned indent, const char *lead, const char *text)
{
	unsigned hang = indent + columns(lead, strlen(lead));
	unsigned at = hang;

	fprintf(l->out, "%*s%s", (int)indent, "", lead);
	while (*text) {
		size_t size = word_size(text);
		unsigned wide = columns(text, size);
		if (at > hang && at + 1 + wide > l->width) {
			fprintf(l->out, "\n%*s", (int)hang, "");
			at = hang;
		} else if (at > hang) {
			fputc(' ', l->out);
			at++;
		}
		fwrite(text, 1, size, l->out);
		at += wide;
		text += size;
		text += strspn(text, " ");
	}
	fputc('\n', l->out);
}

attr_printf(4, 0) static void vtext(
	const struct layout *l, unsigned indent, const char *lead, const char *fmt, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0)
		abort();
	wrap(l, indent, lead, text);
	free(text);
}

void layout_text(const struct layout *l, unsigned indent, const char *lead, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vtext(l, indent, lead, fmt, args);
	va_end(args);
}

void layout_warning(const struct layout *l, unsigned indent, const char *lead, const char *fmt, ...)
{
	va_list args;

	fputs(l->color ? RED : "", l->out);
	va_start(args, fmt);
	vtext(l, indent, lead, fmt, args);
	va_end(args);
	fputs(l->color ? PLAIN : "", l->out);
}

void layout_table(const struct layout *l, struct table *t)
{
	table_indent(t, 2);
	table_print(t, l->out);
	table_free(t);
}

void phrase_add(struct phrase *p, const char *fmt, ...)
{
	size_t used = strlen(p->text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(p->text + used, sizeof(p->text) - used, fmt, args);
	va_end(args);
}

const char *phrase_joint(size_t index, size_t count)
{
	if (!index)
		return "";
	return index + 1 == count ? " and " : ", ";
}

const char *layout_short(const char *name, unsigned room, char out[64])
{
	size_t length = strlen(name);

	room = room < 64 ? room : 63;
	if (length <= room) {
		snprintf(out, 64, "%s", name);
		return out;
	}
	unsigned tail = room / 3, head = room - tail - 1;
	/* Never cut a character of several bytes in two. */
	while (head && ((unsigned char)name[head] & 0xc0) == 0x80)
		head--;
	while (tail && ((unsigned char)name[length - tail] & 0xc0) == 0x80)
		tail--;
	snprintf(out, 64, "%.*s~%s", (int)head, name, name + length - tail);
	return out;
}

const char *layout_bar(double part, unsigned room, char out[64])
{
	double full = part > 1 ? 1 : part > 0 ? part : 0;
	unsigned n = (unsigned)(full * room + 0.5);

	n = n ? n : part > 0;
	memset(out, '#', n);
	out[n] = '\0';
	return out;
}
