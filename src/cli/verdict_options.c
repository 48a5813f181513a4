/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From options to the question: which figures, which margin, which rules of counting. */
#include "cli/verdict_options.h"

#include <string.h>

#include "base/text.h"

int margin_parse(const char *text, double *ret_share, int64_t *ret_ns, struct tare_err *err)
{
	size_t length = strlen(text);
	*ret_share = 0;
	*ret_ns = 0;
	if (length == 0 || length > 40)
		return tare_fail(err, TARE_E_USAGE, "--margin is a size, as 2%% or 100ns");
	if (text[length - 1] != '%') {
		if (parse_duration_ns(text, ret_ns, err) < 0)
			return tare_err_prefix(err, "--margin");
		return *ret_ns > 0 ? 0 : tare_fail(err, TARE_E_USAGE, "--margin must be above 0");
	}
	char number[48];
	memcpy(number, text, length - 1);
	for (length--; length && number[length - 1] == ' ';)
		length--;
	number[length] = '\0';
	if (parse_number(number, ret_share, err) < 0)
		return tare_err_prefix(err, "--margin");
	*ret_share /= 100;
	if (!(*ret_share > 0) || !(*ret_share < 1))
		return tare_fail(err, TARE_E_USAGE, "--margin %s must be above 0 %% and below 100 %%", text);
	return 0;
}

static bool is_known(const struct question *question, const struct tare_figure *figure)
{
	for (size_t i = 0; i < question->count; i++)
		if (strcmp(question->figures[i].name, figure->name) == 0)
			return true;
	return false;
}

static int add_figure(struct question *question, const char *name, struct tare_err *err)
{
	struct tare_figure figure;
	if (tare_figure_parse(name, &figure, err) < 0)
		return -1;
	if (is_known(question, &figure))
		return 0;
	if (question->count == FIGURES_MAX)
		return tare_fail(err, TARE_E_USAGE, "more than %d figures", FIGURES_MAX);
	question->figures[question->count++] = figure;
	return 0;
}

int question_of(const struct verdict_options *options, struct question *ret_question, struct tare_err *err)
{
	struct question question = {.count = 0};
	tare_rules_default(&question.rules);
	question.rules.stall_limit_ns = options->stall_limit_ns;
	question.rules.stall_ratio = options->stall_ratio;
	if (options->json && options->csv)
		return tare_fail(err, TARE_E_USAGE, "--json and --csv exclude each other");
	if (add_figure(&question, options->primary, err) < 0)
		return tare_err_prefix(err, "--primary");
	for (const char *at = options->also; at && *at;) {
		char name[48];
		size_t length = strcspn(at, ",");
		struct text text = TEXT_IN(name);
		text_add(&text, "%.*s", (int)(length < 47 ? length : 47), at);
		if (length && add_figure(&question, name, err) < 0)
			return tare_err_prefix(err, "--also");
		at += at[length] ? length + 1 : length;
	}
	if (options->margin && margin_parse(options->margin, &question.margin_share, &question.margin_ns, err) < 0)
		return -1;
	*ret_question = question;
	return 0;
}
