/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two lists of names seen, in order. */
#include "cli/disguise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name {
	char *real, *shown;
};

struct names {
	struct name *name;
	size_t count;
};

struct disguise {
	struct names targets, labels;
	struct tare_record record;
	struct tare_run run;
	struct tare_target target;
	struct tare_round round;
};

int disguise_open(struct disguise **ret_disguise, struct tare_err *err)
{
	*ret_disguise = calloc(1, sizeof(**ret_disguise));
	return *ret_disguise ? 0 : tare_fail(err, TARE_E_SYSTEM, "out of memory");
}

static void names_free(const struct names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		free(names->name[i].real);
		free(names->name[i].shown);
	}
	free(names->name);
}

void disguise_free(struct disguise *disguise)
{
	if (!disguise)
		return;
	names_free(&disguise->targets);
	names_free(&disguise->labels);
	free(disguise);
}

static const char *shown_for(struct names *names, const char *real, const char *format, const char *kind)
{
	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->name[i].real, real) == 0)
			return names->name[i].shown;
	}
	struct name *larger = reallocarray(names->name, names->count + 1, sizeof(*larger));
	if (!larger)
		return NULL;
	names->name = larger;
	char shown[96];
	snprintf(shown, sizeof(shown), "%.60s%s%zu", kind, format, names->count + 1);
	struct name name = {strdup(real), strdup(shown)};
	if (!name.real || !name.shown) {
		free(name.real);
		free(name.shown);
		return NULL;
	}
	larger[names->count++] = name;
	return name.shown;
}

const char *disguise_label(struct disguise *disguise, const char *label)
{
	return label && *label ? shown_for(&disguise->labels, label, "label-", "") : "";
}

const char *disguise_target(struct disguise *disguise, const char *url, const char *kind)
{
	return shown_for(&disguise->targets, url ? url : "", "://target-", kind ? kind : "unknown");
}

int disguise_record(struct disguise *disguise, const struct tare_record **record, struct tare_err *err)
{
	if (!disguise)
		return 0;
	const struct tare_record *real = *record;
	disguise->record = *real;
	disguise->run = *real->run;
	disguise->target = *real->target;
	disguise->round = *real->round;
	disguise->run.host = disguise->run.kernel = disguise->run.command_line = "";
	disguise->run.spool = NULL;
	disguise->run.epoch_real_ns = 0;
	disguise->target.url = disguise_target(disguise, real->target->url, real->target->kind);
	disguise->target.address = "";
	disguise->round.label = disguise_label(disguise, real->round->label);
	if (!disguise->target.url || !disguise->round.label)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	disguise->record.run = &disguise->run;
	disguise->record.target = &disguise->target;
	disguise->record.round = &disguise->round;
	*record = &disguise->record;
	return 0;
}
