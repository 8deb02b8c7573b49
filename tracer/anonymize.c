/* SPDX-License-Identifier: MIT */
/*
 *   bank.db-wal
 *   ^^^^^^^         free: anonymized as a name of its own, because it is one: qk3...(12 more).db
 *          ^^^^     spelt out by the pattern that gave the file its class: kept
 *
 * A hash is SipHash-2-4 in letters and digits that no pattern of fileclass.c is made of.
 */
#include "anonymize.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cleanup.h"
#include "fileclass.h"
#include "format.h"
#include "io.h"
#include "vec.h"
#include "writer.h" /* struct trace_thread */

#define KEY_BYTES     16
#define HASH_BYTES    16
#define HASH_CHARS    12 /* 60 bits: one in 10^6 that two of a million names collide */
#define HASH_MAX      25 /* all 128 bits; what is longer repeats them */
#define EXTENSION_MAX 7

struct anonymizer {
	EVP_MAC *mac;
	EVP_MAC_CTX *ctx;
	struct bytes out; /* what was made since the last call; does not move during one */
	VEC(struct tree_xattr) xattrs;
};

/* ---- hashes ---- */

static void hash(struct anonymizer *a, struct text text, uint8_t ret[HASH_BYTES])
{
	size_t size = 0;

	if (EVP_MAC_init(a->ctx, NULL, 0, NULL) != 1 ||
		EVP_MAC_update(a->ctx, (const uint8_t *)text.data, text.size) != 1 ||
		EVP_MAC_final(a->ctx, ret, &size, HASH_BYTES) != 1 || size != HASH_BYTES)
		abort();
}

/* `length` characters: q and the hash, again and again if that is not enough. */
static void put_hash(struct anonymizer *a, struct text text, size_t length)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t sum[HASH_BYTES];

	hash(a, text, sum);
	put_u8(&a->out, 'q');
	for (size_t i = 0; i + 1 < length; i++) {
		size_t bit = i % HASH_MAX * 5;
		unsigned pair = sum[bit / 8] | (unsigned)sum[(bit / 8 + 1) % HASH_BYTES] << 8;
		put_u8(&a->out, (uint8_t)digits[pair >> bit % 8 & 31]);
	}
}

/* Short ones all alike, long ones in steps; names that no file system takes stay such. */
static size_t hash_length(size_t size)
{
	if (size > NAME_MAX)
		return size;
	return size < HASH_CHARS + 4 ? HASH_CHARS + 1 : size & ~(size_t)3;
}

static void put_text(struct anonymizer *a, struct text text)
{
	put_bytes(&a->out, text.data, text.size);
}

/* ---- names ---- */

static void put_name(struct anonymizer *a, struct text name, bool whole);

static struct text part(struct text text, size_t from, size_t to)
{
	return (struct text){text.data + from, to - from};
}

static bool is_number(struct text text)
{
	for (size_t i = 0; i < text.size; i++)
		if (!strchr("0123456789._-", text.data[i]) || !text.data[i])
			return false;
	return true;
}

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Where the extension begins, with its dot; the size of the name if it has none. */
static size_t extension_of(struct text name)
{
	size_t at = name.size;

	while (at > 1 && is_plain(name.data[at - 1]) && name.size - at < EXTENSION_MAX)
		at--;
	return at > 1 && at < name.size && name.data[at - 1] == '.' ? at - 1 : name.size;
}

static void put_unknown_name(struct anonymizer *a, struct text name)
{
	size_t dot = name.data[0] == '.' ? 1 : 0, end = extension_of(name);

	if (end <= dot)
		end = name.size;
	put_text(a, part(name, 0, dot));
	put_hash(a, part(name, dot, end), hash_length(end - dot));
	put_text(a, part(name, end, name.size));
}

/* A stretch that the pattern left open. At the front of a name it is a name. */
static void put_free_part(struct anonymizer *a, struct text text, bool first)
{
	if (is_number(text))
		put_text(a, text);
	else if (first)
		put_name(a, text, false);
	else
		put_hash(a, text, hash_length(text.size));
}

static void put_known_name(struct anonymizer *a, struct text name, const bool *kept)
{
	for (size_t i = 0, end; i < name.size; i = end) {
		for (end = i + 1; end < name.size && kept[end] == kept[i];)
			end++;
		if (kept[i])
			put_text(a, part(name, i, end));
		else
			put_free_part(a, part(name, i, end), i == 0);
	}
}

static void put_name(struct anonymizer *a, struct text name, bool whole)
{
	bool kept[NAME_MAX + 1] = {false};

	if (!name.size || is_number(name))
		put_text(a, name);
	else if (name.size <= NAME_MAX && file_class_mark(name, kept) && (whole || !kept[0]))
		put_known_name(a, name, kept);
	else
		put_unknown_name(a, name);
}

static void put_whole_name(struct anonymizer *a, struct text name)
{
	size_t at = a->out.size;

	put_name(a, name, true);
	/* A name that was short enough for a file system stays so. */
	if (name.size > NAME_MAX || a->out.size - at <= NAME_MAX)
		return;
	a->out.size = at;
	put_hash(a, name, NAME_MAX);
}

static void put_path(struct anonymizer *a, struct text path)
{
	for (size_t i = 0, end; i < path.size; i = end + 1) {
		for (end = i; end < path.size && path.data[end] != '/';)
			end++;
		put_whole_name(a, part(path, i, end));
		if (end < path.size)
			put_u8(&a->out, '/');
	}
}

/* ---- attributes ---- */

static bool is_in(struct text name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (name.size == strlen(list[i]) && !memcmp(name.data, list[i], name.size))
			return true;
	return false;
}

/* The kernel gives them a meaning, and checks their values. */
static bool is_systems(struct text name)
{
	static const char *const names[] = {
		"system.posix_acl_access", "system.posix_acl_default", "security.capability"};

	return is_in(name, names, ARRAY_SIZE(names));
}

static void put_xattr_name(struct anonymizer *a, struct text name)
{
	const char *dot = name.size ? memchr(name.data, '.', name.size) : NULL;
	size_t prefix = dot ? (size_t)(dot - name.data) + 1 : 0;

	if (is_systems(name) || !name.size) {
		put_text(a, name);
		return;
	}
	put_text(a, part(name, 0, prefix));
	put_hash(a, part(name, prefix, name.size), hash_length(name.size - prefix));
}

static void put_thread_name(struct anonymizer *a, struct text name)
{
	put_hash(a, name, HASH_CHARS + 1);
}

static void put_value(struct anonymizer *a, struct text value)
{
	if (value.size)
		put_hash(a, value, value.size);
}

/* ---- whole structures ---- */

/* Room for what `texts` may become: a component of one letter becomes 13 letters and a slash. */
static void begin(struct anonymizer *a, size_t texts)
{
	a->out.size = 0;
	bytes_reserve(&a->out, texts * (HASH_CHARS + 2) + 256);
}

static void replace(struct anonymizer *a, struct text *text,
	void (*put)(struct anonymizer *a, struct text text))
{
	size_t at = a->out.size;

	put(a, *text);
	*text = (struct text){(const char *)a->out.data + at, a->out.size - at};
}

/* What a link that worked points to stays short enough to work. */
static void put_target(struct anonymizer *a, struct text target)
{
	size_t at = a->out.size;

	put_path(a, target);
	if (target.size < PATH_MAX)
		a->out.size = min_u64(a->out.size, at + PATH_MAX - 1);
}

struct text anonymize_name(struct anonymizer *a, struct text name)
{
	begin(a, name.size);
	replace(a, &name, put_whole_name);
	return name;
}

static void replace_arg(struct anonymizer *a, struct event *ev, const struct op_arg *arg)
{
	struct text *text = event_text(ev, arg);
	bool xattr = op_descs[ev->op].class == CLASS_XATTR;

	if (arg->kind == KIND_NAME)
		replace(a, text, xattr ? put_xattr_name : put_whole_name);
	else if (ev->op == OP_symlink)
		replace(a, text, put_target);
	else if (ev->op == OP_fork || ev->op == OP_exec || ev->op == OP_exit)
		replace(a, text, put_thread_name);
	else if (!xattr || !is_systems(ev->name))
		replace(a, text, put_value);
}

void anonymize_event(struct anonymizer *a, struct event *ev)
{
	const struct op_desc *op = &op_descs[ev->op];
	size_t texts = 0;

	for (unsigned i = 0; i < op->arg_count; i++)
		if (arg_is_text(&op->args[i]))
			texts += event_text(ev, &op->args[i])->size;
	if (!texts)
		return;
	begin(a, texts);
	/* From the back: whether a value is kept depends on the name in front of it. */
	for (unsigned i = op->arg_count; i-- > 0;)
		if (arg_is_text(&op->args[i]))
			replace_arg(a, ev, &op->args[i]);
}

void anonymize_entry(struct anonymizer *a, struct tree_entry *e)
{
	size_t texts = e->name.size + e->target.size;

	a->xattrs.count = 0;
	for (size_t i = 0; i < e->xattr_count; i++) {
		texts += e->xattrs[i].name.size + e->xattrs[i].value.size + 2;
		vec_push(&a->xattrs, e->xattrs[i]);
	}
	begin(a, texts);
	replace(a, &e->name, put_whole_name);
	replace(a, &e->target, put_target);
	vec_each (x, &a->xattrs) {
		if (!is_systems(x->name))
			replace(a, &x->value, put_value);
		replace(a, &x->name, put_xattr_name);
	}
	e->xattrs = a->xattrs.at;
}

void anonymize_thread(struct anonymizer *a, struct trace_thread *t)
{
	struct text name = {t->comm, strnlen(t->comm, sizeof(t->comm) - 1)};

	begin(a, name.size);
	put_thread_name(a, name);
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, a->out.data, a->out.size);
}

static json_t *all_harmless(const json_t *meta);

static json_t *harmless(const char *key, const json_t *value)
{
	static const char *const kept[] = {
		"fsreel", "kernel", "machine", "source_fs", "started", "timeouts", "content"};
	struct text name = {key, strlen(key)};

	if (json_is_object(value))
		return all_harmless(value);
	if (json_is_number(value) || json_is_boolean(value))
		return json_deep_copy(value);
	return json_is_string(value) && is_in(name, kept, ARRAY_SIZE(kept)) ? json_deep_copy(value)
	                                                                    : NULL;
}

static json_t *all_harmless(const json_t *meta)
{
	json_t *out = json_object();

	for (void *i = json_object_iter((json_t *)(uintptr_t)meta); i;
		i = json_object_iter_next((json_t *)(uintptr_t)meta, i)) {
		json_t *value = harmless(json_object_iter_key(i), json_object_iter_value(i));
		if (value)
			json_object_set_new(out, json_object_iter_key(i), value);
	}
	return out;
}

json_t *anonymize_meta(const json_t *meta)
{
	json_t *out = all_harmless(meta);

	json_object_set_new(out, "anonymized", json_true());
	return out;
}

/* ---- the key ---- */

/* Any file will do; its hash is the key. */
static int read_key(uint8_t key[KEY_BYTES], const char *path, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t data[4096], sum[EVP_MAX_MD_SIZE];

	if (fd < 0)
		return error_errno(err, errno, "cannot open the key %s", path);
	ssize_t n = read_full(fd, data, sizeof(data));
	if (n < 0)
		return error_errno(err, (int)n, "cannot read the key %s", path);
	if (n < KEY_BYTES)
		return error_set(err, EINVAL,
			"the key %s is too short: at least %d bytes, as from 'head -c 32 "
			"/dev/urandom'",
			path, KEY_BYTES);
	if (!EVP_Digest(data, (size_t)n, sum, NULL, EVP_sha256(), NULL))
		return error_set(err, EIO, "libcrypto has no SHA-256");
	memcpy(key, sum, KEY_BYTES);
	return 0;
}

static int make_mac(struct anonymizer *a, const uint8_t key[KEY_BYTES], struct error *err)
{
	size_t size = HASH_BYTES;
	const OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
		OSSL_PARAM_construct_end()};

	a->mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
	a->ctx = a->mac ? EVP_MAC_CTX_new(a->mac) : NULL;
	if (!a->ctx || EVP_MAC_init(a->ctx, key, KEY_BYTES, params) != 1)
		return error_set(err, EIO, "libcrypto has no SipHash, which hides the names");
	return 0;
}

int anonymizer_new(struct anonymizer **ret, const char *key_path, struct error *err)
{
	struct anonymizer *a = ALLOC(struct anonymizer);
	uint8_t key[KEY_BYTES];
	int r = 0;

	if (key_path)
		r = read_key(key, key_path, err);
	else if (getrandom(key, sizeof(key), 0) != sizeof(key))
		r = error_errno(err, errno, "no random key");
	if (r >= 0)
		r = make_mac(a, key, err);
	if (r < 0)
		anonymizer_free(a);
	else
		*ret = a;
	return r;
}

void anonymizer_free(struct anonymizer *a)
{
	if (!a)
		return;
	EVP_MAC_CTX_free(a->ctx);
	EVP_MAC_free(a->mac);
	bytes_free(&a->out);
	vec_free(&a->xattrs);
	free(a);
}
