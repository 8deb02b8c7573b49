/* SPDX-License-Identifier: MIT */
/* The sections of the text report, in its order. Each prints nothing when it has nothing to say. */
#ifndef SECTION_H
#define SECTION_H

#include "layout.h"
#include "view.h"

void section_headline(const struct layout *l, const struct view *v);
void section_ranking(const struct layout *l, const struct view *v);
void section_steps(const struct layout *l, const struct view *v);
void section_prediction(const struct layout *l, const struct view *v);
void section_attribution(const struct layout *l, const struct view *v);
void section_device(const struct layout *l, const struct view *v);
void section_fidelity(const struct layout *l, const struct view *v);
void section_environment(const struct layout *l, const struct view *v);

/* The statistic of view.score over the steps, in a line; nothing without steps. */
void say_score(const struct layout *l, const struct view *v);
/* How a kind of run is called in sentences: "real runs", "paced replays". */
const char *run_words(enum run_kind kind, const char *mode, char out[48]);

#endif
