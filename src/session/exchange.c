/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user wants to send and to get back, from escapes to bytes, and whom it concerns. */
#include <string.h>

#include "base/escape.h"
#include "session/private.h"

/* Only a body can be expected of what asks by itself. */
static bool asks_by_itself(const struct session_config *config)
{
	for (size_t i = 0; i < config->url_count; i++)
		if (strncmp(config->urls[i], "http", 4) == 0)
			return true;
	return false;
}

int exchange_read(struct session *session, struct tare_err *err)
{
	const struct session_config *config = &session->config;
	struct session_exchange *exchange = &session->exchange;
	struct probe_exchange *bytes = &exchange->as_bytes;
	exchange->given = config->send || config->expect || config->expect_regex || config->expect_bytes;
	if (!exchange->given)
		return 0;
	if (!config->send && !asks_by_itself(config))
		return tare_fail(err, TARE_E_USAGE, "--expect without --send: what is the question?");
	if (config->send && config->payload_bytes)
		return tare_fail(err, TARE_E_USAGE, "--send and --size exclude each other: the text has its own length");
	*bytes = (struct probe_exchange){
		.send = exchange->send, .expect_regex = config->expect_regex, .reply_bytes = config->expect_bytes};
	if (config->send && parse_escapes(config->send, exchange->send, sizeof exchange->send, &bytes->send_bytes, err) < 0)
		return tare_err_prefix(err, "--send");
	if (config->send && bytes->send_bytes == 0)
		return tare_fail(err, TARE_E_USAGE, "--send is empty");
	if (!config->expect)
		return 0;
	bytes->expect = exchange->expect;
	if (parse_escapes(config->expect, exchange->expect, sizeof exchange->expect, &bytes->expect_bytes, err) < 0)
		return tare_err_prefix(err, "--expect");
	return 0;
}

/* tcp without a question of the user's asks its own. */
const struct probe_exchange *exchange_for(const struct session *session, const struct probe_kind *kind)
{
	const struct session_exchange *exchange = &session->exchange;
	if (!exchange->given || kind->exchanges == PROBE_EXCHANGES_NOT)
		return NULL;
	if (kind->exchanges == PROBE_EXCHANGES_TEXT && exchange->as_bytes.send_bytes == 0)
		return NULL;
	return &exchange->as_bytes;
}
