/* trial.c - see trial.h. */
#include "cli/trial.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/target.h"
#include "profile/read.h"
#include "suggest/child.h"

#define OUTPUT_MAX_BYTES 65536u
#define LIMIT_S 20.0 /* far more than it takes; CUDA needs a second or two to start */

/* What CUPTI is looked for beside is loaded first, as by the packages that use it. */
static const char script_text[] =
	"import sys, time\n"
	"start_cpu_s = time.process_time()\n"
	"def use_gpu():\n"
	"    import ctypes, glob\n"
	"    for folder in sys.path:\n"
	"        for path in glob.glob(folder + '/nvidia/*/lib/libcudart.so.*'):\n"
	"            ctypes.CDLL(path)\n"
	"    ctypes.CDLL('libcuda.so.1').cuInit(0)\n"
	"if 'gpu' in sys.argv:\n"
	"    use_gpu()\n"
	"if 'work' in sys.argv:\n"
	"    kept = [bytearray(1000) for _ in range(4000)]\n"
	"    end_cpu_s = time.process_time() + 0.04\n"
	"    while time.process_time() < end_cpu_s:\n"
	"        sum(range(500))\n"
	"    time.sleep(0.07)\n"
	"import os\n"
	"cupti = ''\n"
	"executable = image = os.readlink('/proc/self/exe')\n"
	"with open('/proc/self/maps') as maps:\n"
	"    for line in maps:\n"
	"        path = line[line.index('/'):].strip() if '/' in line else ''\n"
	"        if '/libpython' in path:\n"
	"            image = path\n"
	"        if '/libcupti.so' in path:\n"
	"            cupti = path\n"
	"print('version', sys.version.split()[0])\n"
	"print('implementation', sys.implementation.name)\n"
	"print('executable', executable)\n"
	"print('image', image)\n"
	"print('cupti', cupti)\n"
	"print('is_free_threaded', int('t' in sys.abiflags))\n"
	"print('start_cpu_s', start_cpu_s)\n";
#define MEMORY_LINE 12u
#define WAIT_LINE 16u

/* The files of a trial, in its folder. */
struct trial_files {
	char *folder, *script, *output, *errors, *profile; /* owned */
};

static volatile sig_atomic_t has_signal;

static void note_signal(int number)
{
	has_signal = number;
}

static bool is_cancelled(void *closure)
{
	(void)closure;
	return has_signal != 0;
}

/* ---- files ---- */

/* A folder of its own in the place, or NULL with errno set. */
static char *make_folder(const char *place)
{
	char *folder = path_join(place, "doctor-heatline-XXXXXX");

	if (mkdtemp(folder))
		return folder;
	int error_number = errno;
	free(folder);
	errno = error_number;
	return NULL;
}

static int make_files(struct trial_files *files, struct err *err)
{
	const char *place = getenv("TMPDIR");
	char *folder = place && *place == '/' ? make_folder(place) : NULL;

	if (!folder && !(folder = make_folder("/tmp"))) /* a run does without the first, too */
		return err_set_errno(err, errno, "no temporary folder can be made in /tmp");
	files->folder = folder;
	files->script = path_join(folder, "trial.py");
	files->output = path_join(folder, "output");
	files->errors = path_join(folder, "errors");
	files->profile = path_join(folder, "profile.json");
	return file_write(files->script, script_text, sizeof(script_text) - 1, err);
}

static void remove_files(struct trial_files *files)
{
	char *paths[] = {files->script, files->output, files->errors, files->profile};

	if (!files->folder)
		return;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		unlink(paths[i]);
		free(paths[i]);
	}
	rmdir(files->folder);
	free(files->folder);
}

/* ---- reading ---- */

static void take_word(struct trial_python *python, const char *name, const char *value)
{
	if (strcmp(name, "version") == 0)
		snprintf(python->version, sizeof(python->version), "%s", value);
	else if (strcmp(name, "implementation") == 0)
		snprintf(python->implementation, sizeof(python->implementation), "%s", value);
	else if (strcmp(name, "executable") == 0)
		snprintf(python->executable, sizeof(python->executable), "%s", value);
	else if (strcmp(name, "cupti") == 0)
		snprintf(python->cupti, sizeof(python->cupti), "%s", value);
	else if (strcmp(name, "image") == 0)
		snprintf(python->image, sizeof(python->image), "%s", value);
	else if (strcmp(name, "is_free_threaded") == 0)
		python->is_free_threaded = strcmp(value, "1") == 0;
	else if (strcmp(name, "start_cpu_s") == 0)
		python->start_cpu_s = strtod(value, NULL);
}

/* Lines "name value". */
static void read_python(const char *path, struct trial_python *python)
{
	char *text, *rest = NULL;
	size_t size;

	if (file_read(path, OUTPUT_MAX_BYTES, &text, &size, NULL))
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value = '\0';
		take_word(python, line, value + 1);
	}
	free(text);
}

/* The line that tells most: the loader's if it could not load the agent, heatline's, else the last,
 * which is what a Python that fails ends with. */
static void read_complaint(const char *path, char *complaint, size_t room)
{
	static const char own[] = "heatline: ";
	char *text, *rest = NULL;
	size_t size;
	const char *best = "";

	if (file_read(path, OUTPUT_MAX_BYTES, &text, &size, NULL))
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strstr(line, "ld.so: ")) {
			best = line;
			break;
		}
		if (!text_starts_with(best, own))
			best = line;
	}
	snprintf(complaint, room, "%s", text_starts_with(best, own) ? best + sizeof(own) - 1 : best);
	free(text);
}

/* What is known of the program's lines. */
static void read_profile(const char *path, const char *script, struct trial *trial)
{
	trial->profile = profile_read(path, NULL);
	const struct profile_file *file =
		trial->profile ? profile_find_file(trial->profile, script) : NULL;
	const struct profile_line *memory = file ? profile_find_line(file, MEMORY_LINE) : NULL;
	const struct profile_line *wait = file ? profile_find_line(file, WAIT_LINE) : NULL;

	trial->line_alloc_bytes = memory ? memory->self.alloc_bytes : 0;
	trial->line_wait_s = wait ? wait->self.wait_s : 0;
}

/* ---- running ---- */

static int run_words(char **words, const struct trial_files *files, struct child_result *result,
		     struct err *err)
{
	extern char **environ;
	const struct child child = {
		.argv = words,
		.environment = environ,
		.folder = ".", /* where 'heatline run' would be typed */
		.output = files->output,
		.errors = files->errors,
		.limit_s = LIMIT_S,
		.is_cancelled = is_cancelled,
	};
	return child_run(&child, result, err);
}

/* What cannot even be started is told like what the started would have written. */
static void run_plain(const struct trial_files *files, struct trial *trial)
{
	char *words[] = {trial->python, files->script, NULL};
	struct child_result result;
	struct err err;

	if (run_words(words, files, &result, &err)) {
		snprintf(trial->plain_complaint, sizeof(trial->plain_complaint), "%.500s", err.message);
		return;
	}
	read_python(files->output, &trial->plain);
	read_complaint(files->errors, trial->plain_complaint, sizeof(trial->plain_complaint));
}

static void run_profiled(const struct trial_files *files, struct trial *trial)
{
	char *heatline = realpath("/proc/self/exe", NULL);
	char *words[] = {heatline ? heatline : "heatline", "run", "--quiet", "--outfile", files->profile,
			 "--python", trial->python, files->script, "work",
			 trial->has_gpu ? "gpu" : NULL, NULL};
	struct child_result result = {.is_late = false};
	struct err err;

	int status = run_words(words, files, &result, &err);
	free(heatline);
	if (status)
		snprintf(trial->complaint, sizeof(trial->complaint), "%.500s", err.message);
	else if (result.is_late)
		snprintf(trial->complaint, sizeof(trial->complaint),
			 "the test program did not end within %.0f s", LIMIT_S);
	else
		read_complaint(files->errors, trial->complaint, sizeof(trial->complaint));
	trial->seconds = result.seconds;
	read_python(files->output, &trial->profiled);
	read_profile(files->profile, files->script, trial);
}

/* The first start of all finds cold caches, so the plain one has a second chance. */
static void start_again(const struct trial_files *files, struct trial *trial)
{
	char *words[] = {trial->python, files->script, NULL};
	struct trial_python again = {.start_cpu_s = trial->plain.start_cpu_s};
	struct child_result result;

	if (run_words(words, files, &result, NULL) == 0)
		read_python(files->output, &again);
	if (again.start_cpu_s < trial->plain.start_cpu_s)
		trial->plain.start_cpu_s = again.start_cpu_s;
}

/* Chooses the interpreter as run does. */
static void choose_python(const char *asked, const struct trial_files *files, struct trial *trial)
{
	char *words[] = {files->script, NULL};
	struct target target = {.argv = NULL};

	if (target_resolve(words, asked, &target, &trial->refusal) == 0)
		trial->python = mem_copy_text(target.path);
	target_fini(&target);
}

static void try_all(const char *asked, struct trial *trial)
{
	struct trial_files files = {.folder = NULL};

	err_clear(&trial->refusal);
	if (make_files(&files, &trial->refusal) == 0)
		choose_python(asked, &files, trial);
	if (trial->python && !has_signal)
		run_plain(&files, trial);
	if (trial->plain.version[0] && !has_signal)
		run_profiled(&files, trial);
	if (trial->profile && !has_signal)
		start_again(&files, trial);
	remove_files(&files);
}

void trial_run(const char *asked, bool has_gpu, struct trial *trial)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction before[3], ours = {.sa_handler = note_signal};

	*trial = (struct trial){.has_gpu = has_gpu};
	for (size_t i = 0; i < 3; i++) {
		sigaction(numbers[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN) /* nohup's wish */
			sigaction(numbers[i], &ours, NULL);
	}
	try_all(asked, trial);
	for (size_t i = 0; i < 3; i++)
		sigaction(numbers[i], &before[i], NULL);
	if (has_signal) /* nothing is left behind now, so it may have its effect */
		raise(has_signal);
}

void trial_fini(struct trial *trial)
{
	profile_free(trial->profile);
	free(trial->python);
}
