/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changing what a card stamps, and putting it back come what may. The keeper is a
 * forked process without the terminal that ignores its signals and
 * sleeps in a read of a pipe: the pipe's end is the end of the program that
 * measured, by exit, signal or crash alike. Only SIGKILL to the keeper itself
 * leaves the card as it was set.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "net/card.h"

/* The keeper's exit status. */
enum { PUT_BACK, LEFT_TO_OTHERS, REFUSED };

static bool same_setting(const struct card_setting *one, const struct card_setting *other)
{
	return one->tx_type == other->tx_type && one->rx_filter == other->rx_filter && one->flags == other->flags;
}

/* `told`: what the card really took, which the driver may have widened; else we died while setting it. */
static int put_back(const struct card_driver *driver, const struct card_hold *hold, bool told)
{
	struct card_setting found;
	if (driver->get(driver->self, hold->name, &found) == 0 &&
		(told ? !same_setting(&found, &hold->now) : same_setting(&found, &hold->before)))
		return told ? LEFT_TO_OTHERS : PUT_BACK;
	return driver->set(driver->self, hold->name, &hold->before) == 0 ? PUT_BACK : REFUSED;
}

_Noreturn static void keep(const struct card_driver *driver, struct card_hold *hold, int sign)
{
	struct card_setting now;
	bool told = false;
	ssize_t got;
	sigset_t all;
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "tare-card", 0, 0, 0);
	/* nothing of the measurement is held open: a recording's lock must not outlive its writer */
	if (sign > 3)
		close_range(3, (unsigned)sign - 1, 0);
	close_range((unsigned)sign + 1, ~0u, 0);
	/* one message of a few bytes, which a pipe never splits, then the end */
	while ((got = read(sign, &now, sizeof now)) != 0) {
		if (got < 0 && errno != EINTR)
			break;
		if (got != (ssize_t)sizeof now)
			continue;
		hold->now = now;
		told = true;
	}
	_exit(put_back(driver, hold, told));
}

static int start_keeper(const struct card_driver *driver, struct card_hold *hold, struct tare_err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return tare_fail_errno(err, errno, "cannot watch over the setting of %s", hold->name);
	pid_t keeper = fork();
	if (keeper < 0) {
		int error = errno;
		close(ends[0]);
		close(ends[1]);
		return tare_fail_errno(err, error, "cannot start the process that puts %s back", hold->name);
	}
	if (keeper == 0) {
		close(ends[1]);
		keep(driver, hold, ends[0]);
	}
	close(ends[0]);
	hold->alive = ends[1];
	hold->keeper = keeper;
	return 0;
}

static int fail_setting(const char *name, int error, struct tare_err *err)
{
	if (error == EPERM)
		return tare_fail(err, TARE_E_PERMISSION,
			"cannot set what %s stamps: operation not permitted\n  needs CAP_NET_ADMIN: run it with sudo, "
			"or set it "
			"before: hwstamp_ctl -i %s -t 1 -r 1",
			name, name);
	if (error == EOPNOTSUPP || error == ERANGE || error == ENOTTY)
		return tare_fail(err, TARE_E_UNSUPPORTED, "%s cannot stamp every packet it sends and receives", name);
	return tare_fail_errno(err, error, "cannot set what %s stamps", name);
}

int card_stamping_on(
	const struct card_driver *driver, const char *name, struct card_hold *ret_hold, struct tare_err *err)
{
	struct card_hold hold = CARD_HOLD_NONE;
	snprintf(hold.name, sizeof hold.name, "%s", name);
	int status = driver->get(driver->self, name, &hold.before);
	if (status < 0)
		return fail_setting(name, -status, err);
	/* never less than what another program has set: a one-step transmit type stays */
	hold.now = hold.before;
	if (hold.now.tx_type == HWTSTAMP_TX_OFF)
		hold.now.tx_type = HWTSTAMP_TX_ON;
	hold.now.rx_filter = HWTSTAMP_FILTER_ALL;
	if (same_setting(&hold.now, &hold.before)) {
		*ret_hold = CARD_HOLD_NONE;
		return 0;
	}
	/* the keeper first: were we killed between the two, it would put back what was half done */
	if (start_keeper(driver, &hold, err) < 0)
		return -1;
	status = driver->set(driver->self, name, &hold.now);
	if (status == 0 && driver->get(driver->self, name, &hold.now) == 0 &&
		write(hold.alive, &hold.now, sizeof hold.now) == (ssize_t)sizeof hold.now) {
		*ret_hold = hold;
		return 1;
	}
	int error = status < 0 ? -status : EIO;
	/* of two failures the first is the one to tell */
	if (card_stamping_back(&hold, err) < 0 && status == 0)
		return -1;
	return fail_setting(name, error, err);
}

int card_stamping_back(struct card_hold *hold, struct tare_err *err)
{
	int status = 0;
	if (hold->keeper < 0)
		return 0;
	close(hold->alive);
	pid_t waited;
	while ((waited = waitpid(hold->keeper, &status, 0)) < 0 && errno == EINTR)
		continue;
	pid_t keeper = hold->keeper;
	hold->alive = hold->keeper = -1;
	if (waited != keeper || !WIFEXITED(status) || WEXITSTATUS(status) == REFUSED)
		return tare_fail(err, TARE_E_SYSTEM, "cannot put back what %s stamps: it was transmit %s, receive %s",
			hold->name, card_tx_name(hold->before.tx_type), card_filter_name(hold->before.rx_filter));
	if (WEXITSTATUS(status) == LEFT_TO_OTHERS)
		return tare_fail(err, TARE_E_INVALID,
			"what %s stamps was changed by somebody else meanwhile and is left as it is", hold->name);
	return 0;
}
