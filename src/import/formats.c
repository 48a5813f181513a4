/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of readers. Those with an unmistakable mark come first, ping in the
 * middle, since it knows its lines by their shape, and bare columns of numbers
 * last.
 */
#include "import/formats.h"

#include <string.h>

#include "base/text.h"

const struct import_format *const import_formats[] = {&sockperf_format, &irtt_json_format, &cyclictest_json_format, &oslat_format,
	&lagscope_json_format, &mtr_json_format, &mtr_csv_format, &mtr_report_format, &trippy_format, &trippy_csv_format, &fping_json_format, &ping_json_format,
	&tare_jsonl_format, &tare_csv_format, &hlog_format, &wrk2_format, &wrk_format, &hgrm_format, &cyclictest_format, &rtla_format, &rtla_top_format, &oslat_text_format,
	&netperf_format, &netperf_keyval_format, &netperf_csv_format, &sfnt_format, &sfnt_stream_raw_format, &sfnt_raw_format, &eflatency_format,
	&eflatency_raw_format,
	&eflatency_yaml_format, &exanic_format, &exact_match_format, &nanoping_format, &aws_format, &twamp_light_format, &twamp_light_legacy_format,
	&owamp_summary_format, &prometheus_format, &lagscope_format, &lagscope_text_format, &fping_format, &oping_format, &ping_format, &twping_format,
	&owping_format, &mtr_raw_format, &irtt_raw_format, &sysjitter_format, &sysjitter_table_format, &cyclictest_verbose_format, &counters16_format, &counters32_format, &numbers_format, NULL};

enum { FORMATS = sizeof(import_formats) / sizeof(import_formats[0]) - 1 };

const char *import_format_name(size_t i, const char **ret_help)
{
	if (i >= FORMATS)
		return NULL;
	*ret_help = import_formats[i]->help;
	return import_formats[i]->name;
}

const struct import_format *import_format_named(const char *name, struct tare_err *err)
{
	const char *names[FORMATS + 1] = {NULL};
	for (size_t i = 0; i < FORMATS; i++) {
		if (strcmp(import_formats[i]->name, name) == 0)
			return import_formats[i];
		names[i] = import_formats[i]->name;
	}
	const char *near = nearest_word(name, names);
	if (near)
		tare_fail(err, TARE_E_USAGE, "unknown format '%s', nearest is '%s'", name, near);
	else
		tare_fail(err, TARE_E_USAGE, "unknown format '%s'\n  'tare import --list-formats' prints those there are", name);
	return NULL;
}

bool head_has(struct lines *head, unsigned most, bool (*is)(const char *text))
{
	struct line line;
	for (unsigned i = 0; i < most && lines_next(head, &line, NULL) == 1; i++) {
		if (!line.overlong && is(line.text))
			return true;
	}
	return false;
}
