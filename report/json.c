/* SPDX-License-Identifier: MIT */
#include "attribute.h"
#include "report.h"
#include "steps.h"
#include "view.h"

static json_t *shares_json(const struct shares *s)
{
	json_t *array = json_array();

	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(
			array, json_pack("{s:s, s:s, s:I}", "op", s->at[i].op, "file_class",
				       s->at[i].file_class, "ns", (json_int_t)s->at[i].ns));
	return array;
}

/* {target, baseline, difference_ns, classes[]}: the classes add up to the difference. */
static json_t *difference_json(const struct target_view *t, const struct target_view *base)
{
	struct shares s;

	attribute_difference(&s, t->replay_run, base->replay_run);
	json_t *json = json_pack("{s:s, s:s, s:s, s:I, s:o}", "target", t->target, "baseline",
		base->target, "mode", t->replay_run->mode, "difference_ns", (json_int_t)s.total_ns,
		"classes", shares_json(&s));
	shares_done(&s);
	return json;
}

json_t *report_json(
	const struct results *r, const struct report_options *options, struct error *err)
{
	json_t *attribution = json_array(), *json = NULL;
	struct view v;

	if (!view_init(&v, r, options, err)) {
		json = results_json(r);
		vec_each (t, &v.targets)
			if (t != v.base && t->replay_run && v.base->replay_run)
				json_array_append_new(attribution, difference_json(t, v.base));
		json_object_set(json, "attribution", attribution);
		json_object_set_new(json, "steps", steps_json(&v));
	}
	json_decref(attribution);
	view_done(&v);
	return json;
}
