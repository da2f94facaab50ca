/* cmd_doctor.c - "heatline doctor": what works here, what does not, and the line that fixes it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/trial.h"

struct doctor_settings {
	const char *python;
	bool is_json;
};

#define FIELD(name) .offset = offsetof(struct doctor_settings, name)

static const struct option doctor_options[] = {
	{.name = "python", .kind = OPTION_FILE, .value = "PYTHON",
	 .help = "The interpreter to look at, as 'heatline run' takes it. Default: the one that it would "
		 "choose here.",
	 FIELD(python)},
	{.name = "json", .kind = OPTION_FLAG, .help = "Print the same facts as JSON, for programs.",
	 FIELD(is_json)},
	OPTIONS_HELP,
	{0},
};

/* In the order in which they matter. */
static void check_all(struct doctor *doctor, const struct trial *trial)
{
	doctor_check_python(doctor, trial);
	doctor_check_run(doctor, trial);
	doctor_check_clock(doctor);
	doctor_check_waiting(doctor, trial);
	doctor_check_memory(doctor, trial);
	doctor_check_gpu(doctor, trial);
	doctor_check_shared_memory(doctor);
	doctor_check_attach(doctor);
	doctor_check_page(doctor);
	doctor_check_browser(doctor);
	doctor_check_suggest(doctor);
	doctor_check_left_behind(doctor);
}

static int examine(const struct doctor_settings *settings)
{
	struct doctor *doctor = mem_zalloc(1, sizeof(*doctor));
	struct trial trial;

	trial_run(settings->python, doctor_has_gpu(), &trial);
	check_all(doctor, &trial);
	trial_fini(&trial);
	if (settings->is_json)
		doctor_print_json(stdout, doctor);
	else
		doctor_print(stdout, doctor);
	bool works = doctor_works(doctor);
	free(doctor);
	return works ? 0 : 1;
}

static int doctor_run(int argc, char **argv)
{
	struct doctor_settings settings = {.python = NULL};
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_doctor, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	if (parsed.operand_count) {
		err_set(&err, ERR_USAGE, "doctor takes no '%s'; another interpreter is named with --python",
			parsed.operands[0]);
		status = command_error(&err);
	} else {
		status = examine(&settings);
	}
	options_result_fini(&parsed);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "[options]",
	.summary = "Show what works here, what does not, and the line that fixes it.",
	.details = "Each check does what it speaks of: a small program is profiled, clocks are opened, "
		   "a port is listened on. Nothing stays, no key is shown. 'ok' works, 'limited' works "
		   "with less, 'no' does not work, '-' is only to be known. The exit status is 0 where "
		   "'heatline run' works, else 1.\n\n"
		   "With --json: {\"version\", \"works\": true or false, \"checks\": [{\"name\", "
		   "\"state\": \"ok\", \"limited\", \"no\" or \"note\", \"text\", \"fix\": the line or null, "
		   "\"facts\": {...}}, ...]}.",
	.examples = "heatline doctor\twhat works here\n"
		    "heatline doctor --python 3.12\tthe same for another interpreter\n",
	.options = doctor_options,
	.run = doctor_run,
};
