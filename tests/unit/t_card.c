/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Setting what a card stamps and putting it back: by ourselves, after a SIGKILL, after a
 * failure, with somebody else's setting in between. The card is memory that the
 * keeper shares, since no test machine is sure to have one.
 */
#include "net/card.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* What the fake card holds, and how it misbehaves. */
struct fake {
	struct card_setting set;
	int refuse;  /* errno of every set, 0: none */
	bool widens; /* takes a filter as something wider */
	int sets;
};
static struct fake *fake;

static int fake_get(void *self, const char *name, struct card_setting *ret_setting)
{
	(void)self;
	if (strcmp(name, "card0") != 0)
		return -EOPNOTSUPP;
	*ret_setting = fake->set;
	return 0;
}

static int fake_set(void *self, const char *name, const struct card_setting *setting)
{
	(void)self;
	(void)name;
	if (fake->refuse)
		return -fake->refuse;
	fake->set = *setting;
	fake->sets++;
	if (fake->widens && setting->tx_type == HWTSTAMP_TX_ON)
		fake->set.tx_type = HWTSTAMP_TX_ONESTEP_SYNC;
	return 0;
}

static const struct card_driver driver = {.get = fake_get, .set = fake_set};

static void begin(int tx_type, int rx_filter)
{
	*fake = (struct fake){.set = {0, tx_type, rx_filter}};
}

static bool is_set(int tx_type, int rx_filter)
{
	return fake->set.tx_type == tx_type && fake->set.rx_filter == rx_filter;
}

static void check_change(void)
{
	struct card_hold hold = CARD_HOLD_NONE;
	struct tare_err err = {0};
	begin(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_PTP_V2_EVENT);
	IS_I64(card_stamping_on(&driver, "card0", &hold, &err), 1, "the card is set");
	OK(is_set(HWTSTAMP_TX_ON, HWTSTAMP_FILTER_ALL), "to stamp everything");
	IS_I64(card_stamping_back(&hold, &err), 0, "put back");
	OK(is_set(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_PTP_V2_EVENT), "as it was");
	IS_I64(card_stamping_back(&hold, &err), 0, "twice is once");
	IS_I64(fake->sets, 2, "two changes in all");
	begin(HWTSTAMP_TX_ONESTEP_SYNC, HWTSTAMP_FILTER_ALL);
	IS_I64(card_stamping_on(&driver, "card0", &hold, &err), 0, "a card that does so already");
	OK(fake->sets == 0 && hold.keeper == -1, "is not touched");
	begin(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_NONE);
	fake->widens = true;
	IS_I64(card_stamping_on(&driver, "card0", &hold, &err), 1, "a driver that takes more than was asked");
	IS_I64(card_stamping_back(&hold, &err), 0, "is put back as well");
	OK(is_set(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_NONE), "as it was");
}

static void check_failures(void)
{
	struct card_hold hold = CARD_HOLD_NONE;
	struct tare_err err = {0};
	begin(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_NONE);
	fake->refuse = EPERM;
	IS_I64(card_stamping_on(&driver, "card0", &hold, &err), -1, "without the privilege");
	OK(err.code == TARE_E_PERMISSION && strstr(err.text, "CAP_NET_ADMIN"), "the sentence names it: %s", err.text);
	OK(hold.keeper == -1, "no keeper is left behind");
	fake->refuse = ERANGE;
	IS_I64(card_stamping_on(&driver, "card0", &hold, &err), -1, "a card that cannot");
	OK(err.code == TARE_E_UNSUPPORTED, "is told as such: %s", err.text);
	IS_I64(card_stamping_on(&driver, "lo", &hold, &err), -1, "an interface without such a setting");
	OK(err.code == TARE_E_UNSUPPORTED, "too: %s", err.text);
	begin(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_NONE);
	IS_I64(card_stamping_on(&driver, "card0", &hold, &err), 1, "set");
	fake->set = (struct card_setting){0, HWTSTAMP_TX_ON, HWTSTAMP_FILTER_NTP_ALL};
	IS_I64(card_stamping_back(&hold, &err), -1, "and changed by somebody else");
	OK(is_set(HWTSTAMP_TX_ON, HWTSTAMP_FILTER_NTP_ALL), "stays as they set it");
	OK(strstr(err.text, "somebody else") != NULL, "which is said: %s", err.text);
	begin(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_NONE);
	IS_I64(card_stamping_on(&driver, "card0", &hold, &err), 1, "set");
	fake->refuse = EIO;
	IS_I64(card_stamping_back(&hold, &err), -1, "the card will not go back");
	OK(strstr(err.text, "transmit off, receive none") != NULL, "the old setting is said: %s", err.text);
}

/* A child sets the card and is killed by `number`; the keeper, nobody's child then, puts it back. */
static void check_killed(int number)
{
	begin(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_NONE);
	pid_t child = fork();
	if (child == 0) {
		struct card_hold hold;
		struct tare_err err;
		if (card_stamping_on(&driver, "card0", &hold, &err) != 1)
			_exit(1);
		raise(number);
		_exit(2);
	}
	int status = 0;
	waitpid(child, &status, 0);
	OK(WIFSIGNALED(status) && fake->sets >= 1, "killed by %s after setting the card", strsignal(number));
	/* the wait ends as soon as it is done; only a failure takes the ten seconds */
	for (int i = 0; i < 1000 && !is_set(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_NONE); i++)
		poll(NULL, 0, 10);
	OK(is_set(HWTSTAMP_TX_OFF, HWTSTAMP_FILTER_NONE), "put back all the same");
}

static void check_system(void)
{
	struct card card;
	struct tare_err err = {0};
	char name[IFNAMSIZ], lacks[300];
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	IS_I64(card_towards((struct sockaddr *)&to, sizeof to, name, &err), 0, "the way to 127.0.0.1");
	IS_STR(name, "lo", "is the loopback");
	IS_I64(card_read("lo", &card, &err), 0, "which can be asked");
	OK(card.phc == -1 && !card_can_tx(&card) && !card_can_rx(&card), "and has no clock");
	card_lacks(&card, lacks, sizeof lacks);
	IS_STR(lacks, "lo has no clock of its own: no card stamps", "as is said");
	IS_I64(card_read("no-such-card", &card, &err), -1, "an interface that is not there");
	IS_STR(err.text, "there is no interface 'no-such-card'", "is named");
	IS_I64(card_read("a-name-that-is-much-too-long-for-one", &card, &err), -1, "a name that cannot be one");
}

static void check_words(void)
{
	char lacks[300];
	struct card card = {.name = "eth0",
		.phc = 0,
		.told = true,
		.set_known = true,
		.offers = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE,
		.tx_types = 1 << HWTSTAMP_TX_OFF | 1 << HWTSTAMP_TX_ON,
		.rx_filters = 1 << HWTSTAMP_FILTER_ALL};
	card_lacks(&card, lacks, sizeof lacks);
	OK(strstr(lacks, "--set-nic-stamping") && strstr(lacks, "transmit off, receive none"), "not set: %s", lacks);
	card.set = (struct card_setting){0, HWTSTAMP_TX_ON, HWTSTAMP_FILTER_ALL};
	card_lacks(&card, lacks, sizeof lacks);
	IS_STR(lacks, "", "set: nothing is missing");
	card.phc = -1;
	card_lacks(&card, lacks, sizeof lacks);
	OK(strstr(lacks, "no clock to read") != NULL, "no clock: %s", lacks);
	card.rx_filters = 1 << HWTSTAMP_FILTER_PTP_V2_EVENT;
	card_lacks(&card, lacks, sizeof lacks);
	OK(strstr(lacks, "only some packets") != NULL, "time protocols only: %s", lacks);
	IS_STR(card_filter_name(HWTSTAMP_FILTER_PTP_V2_EVENT), "ptpv2-event", "a filter's name");
	IS_STR(card_filter_name(99), "unknown", "one that has none");
	IS_STR(card_tx_name(HWTSTAMP_TX_ONESTEP_P2P), "onestep-p2p", "a transmit type's name");
}

int main(void)
{
	fake = mmap(NULL, sizeof *fake, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fake == MAP_FAILED)
		return 1;
	check_words();
	check_system();
	check_change();
	check_failures();
	check_killed(SIGKILL);
	check_killed(SIGTERM);
	return tap_done();
}
