/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of struct tare_verdict (tare/verdict.h), from which JSON and CSV of comparisons follow; docs/verdicts.md explains each. */
#pragma once
#include "base/table.h"
#include "tare/verdict.h"

/* Records are struct tare_verdict. */
const struct column *verdict_columns_table(size_t *ret_count);
