/* SPDX-License-Identifier: MIT */
#include "report.h"
#include "section.h"

int report_text(
	const struct results *r, const struct report_options *options, FILE *out, struct error *err)
{
	static void (*const sections[])(const struct layout *, const struct view *) = {
		section_headline,
		section_ranking,
		section_steps,
		section_prediction,
		section_attribution,
		section_device,
		section_fidelity,
		section_environment,
	};
	struct layout layout = {out, options->width ? options->width : 80, options->color};
	struct view view;
	int e = view_init(&view, r, options, err);

	for (size_t i = 0; i < ARRAY_SIZE(sections) && !e; i++)
		sections[i](&layout, &view);
	view_done(&view);
	return e;
}
