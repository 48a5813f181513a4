/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * capget and capset by their system calls: libcap offers no more for two
 * functions, and glibc has no wrapper that sets one thread only. The calls act
 * on the calling thread alone; other threads keep theirs.
 */
#include "base/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SET_WORDS = _LINUX_CAPABILITY_U32S_3, WORD_BITS = 32 };

struct cap_sets {
	struct __user_cap_data_struct words[SET_WORDS];
};

static int read_sets(struct cap_sets *sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
	return (int)syscall(SYS_capget, &header, sets->words);
}

bool caps_have(int capability)
{
	struct cap_sets sets = {0};
	if (capability < 0 || capability >= SET_WORDS * WORD_BITS || read_sets(&sets) < 0)
		return false;
	return sets.words[capability / WORD_BITS].effective >> (capability % WORD_BITS) & 1;
}

int caps_keep_only(const int *capabilities, int count, struct tare_err *err)
{
	uint32_t kept[SET_WORDS] = {0};
	for (int i = 0; i < count; i++) {
		int capability = capabilities[i];
		if (capability < 0 || capability >= SET_WORDS * WORD_BITS)
			return tare_fail(err, TARE_E_USAGE, "there is no capability number %d", capability);
		kept[capability / WORD_BITS] |= UINT32_C(1) << (capability % WORD_BITS);
	}
	struct cap_sets sets = {0};
	if (read_sets(&sets) < 0)
		return tare_fail_errno(err, errno, "cannot read the capabilities of this thread");
	for (int i = 0; i < SET_WORDS; i++) {
		sets.words[i].effective &= kept[i];
		sets.words[i].permitted &= kept[i];
		sets.words[i].inheritable &= kept[i];
	}
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
	if (syscall(SYS_capset, &header, sets.words) < 0)
		return tare_fail_errno(err, errno, "cannot drop the capabilities of this thread");
	return 0;
}
