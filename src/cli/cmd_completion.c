/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tare completion: prints what makes a shell complete tare's commands, options and words. */
#include <string.h>

#include "base/text.h"
#include "cli/completion.h"

static const struct option completion_options[] = {{.name = NULL}};

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static const char *shell_word(size_t i)
{
	return shells[i];
}

static int completion_run(struct cli *cli, void *config, int count, char **operands, struct tare_err *err)
{
	(void)config;
	if (count != 1)
		return tare_fail(err, TARE_E_USAGE, "expected one shell: bash, zsh or fish");
	if (strcmp(operands[0], "bash") == 0)
		completion_bash(cli->out, cli_commands);
	else if (strcmp(operands[0], "zsh") == 0)
		completion_zsh(cli->out, cli_commands);
	else if (strcmp(operands[0], "fish") == 0)
		completion_fish(cli->out, cli_commands);
	else
		return tare_fail(err, TARE_E_USAGE, "no completion for '%s': there are bash, zsh and fish", operands[0]);
	return 0;
}

const struct command command_completion = {
	.name = "completion",
	.summary = "prints what makes bash, zsh or fish complete tare's command line",
	.operands = "SHELL",
	.examples = "  . <(tare completion bash)                # in ~/.bashrc\n"
		    "  tare completion zsh >\"${fpath[1]}/_tare\"\n"
		    "  tare completion fish >~/.config/fish/completions/tare.fish\n",
	.options = completion_options,
	.words = shell_word,
	.run = completion_run,
};
