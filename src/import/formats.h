/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readers there are, one row of the table in formats.c each. */
#pragma once
#include "import/pieces.h"

extern const struct import_format counters16_format, counters32_format, irtt_json_format, irtt_raw_format, sockperf_format, fping_format, fping_json_format,
	sfnt_format, sfnt_raw_format, sfnt_stream_raw_format, eflatency_raw_format, eflatency_format, eflatency_yaml_format, exanic_format, exact_match_format,
	nanoping_format, aws_format, twamp_light_format, twamp_light_legacy_format, owping_format, twping_format, owamp_summary_format,
	lagscope_format, lagscope_json_format, lagscope_text_format, netperf_format, netperf_keyval_format, netperf_csv_format, cyclictest_format,
	cyclictest_verbose_format, cyclictest_json_format, oslat_format, oslat_text_format, rtla_format, rtla_top_format,
	sysjitter_format, sysjitter_table_format, mtr_raw_format, mtr_json_format, mtr_csv_format, mtr_report_format,
	trippy_format, trippy_csv_format, wrk2_format, wrk_format, hgrm_format, hlog_format, prometheus_format, ping_json_format, oping_format, tare_csv_format,
	tare_jsonl_format;

/* In the order in which they are asked; NULL behind the last. */
extern const struct import_format *const import_formats[];
/* The one of that name; a failure names the nearest. NULL on failure. */
const struct import_format *import_format_named(const char *name, struct tare_err *err);

/* The unit that the user gave, or a sentence that one is needed. */
int unit_of(const struct import *import, int *ret_unit, struct tare_err *err) TARE_MUST_USE;

/* ---- what readers of text look for in a head ---- */

/* True when one of the first `most` lines makes `is` true. */
bool head_has(struct lines *head, unsigned most, bool (*is)(const char *text));
