/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The card that stamps: found by the way to the first target that has one, set if
 * the user allowed it, its clock opened. One clock is read in a run; targets behind
 * another card keep the kernel's stamps and say so.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/private.h"

static void note(struct session *session, const char *sentence)
{
	struct text text = TEXT_IN(session->card_notes);
	text.used = strlen(session->card_notes);
	/* several targets behind one card say it once */
	if (strstr(session->card_notes, sentence) == NULL)
		text_add(&text, "%s%s", text.used ? "; " : "", sentence);
}

static int set_card(struct session *session, struct card *card, struct tare_err *err)
{
	if (card_stamps_tx(card) && card_stamps_rx(card))
		return 0;
	/* before sockets, threads and locks: the keeper is forked */
	if (card_stamping_on(&card_system, card->name, &session->card, err) < 0)
		return -1;
	return card_read(card->name, card, err);
}

/* What cannot be read is said, not fatal: the stamps then have no place on the axis. */
static int open_clock(struct session *session, const struct card *card)
{
	struct tare_err why = {0};
	if (phc_open(card->phc, &session->phc, &why) < 0) {
		note(session, why.text);
		return -1;
	}
	session->card_index = card->phc;
	return 0;
}

int session_card_open(struct session *session, size_t i, struct tare_err *err)
{
	const struct net_address *address = &session->addresses[i];
	struct probe_request *request = &session->probes[i].request;
	struct card card;
	char name[IFNAMSIZ], lacks[300];
	if (request->stamps < PROBE_STAMPS_NIC)
		return 0;
	if (card_towards((const struct sockaddr *)&address->storage, address->length, name, err) < 0 ||
		card_read(name, &card, err) < 0)
		return -1;
	if (session->config.set_nic_stamping && card_can_tx(&card) && card_can_rx(&card) && session->card.keeper < 0 &&
		set_card(session, &card, err) < 0)
		return -1;
	card_lacks(&card, lacks, sizeof lacks);
	if (lacks[0])
		note(session, lacks);
	if (card.phc < 0)
		return 0;
	if (session->phc.fd < 0 && open_clock(session, &card) < 0)
		return 0;
	if (card.phc != session->card_index) {
		snprintf(lacks, sizeof lacks, "%s has another clock than the first card: its stamps are not used",
			card.name);
		note(session, lacks);
		request->stamps = PROBE_STAMPS_KERNEL;
		return 0;
	}
	request->card_stamps = card_stamps_tx(&card);
	return 0;
}

int session_card_back(struct session *session, struct tare_err *err)
{
	phc_close(&session->phc);
	return card_stamping_back(&session->card, err);
}
