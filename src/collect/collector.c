/* collector.c - the collector's process: its life, and the wheel that it turns.
 *
 * One loop: wait a while (pace.h), drain the rings, look at waiting threads, until
 * the program has ended and with it all of the run's processes.  Those that
 * outlive the program do not hold up the user: what is known by then is written
 * and said, and the collector goes on in the background.
 *
 * The front (front.h) tells when the program starts and ends.  When the front
 * itself is gone the collector sees for itself how the program is. */
#include "collect/collector.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/procfs.h"
#include "collect/descriptors.h"
#include "collect/link.h"
#include "collect/memory.h"
#include "collect/output.h"
#include "collect/pace.h"
#include "collect/process.h"
#include "collect/strangers.h"
#include "collect/watch.h"

/* Processes that end a moment after the program do so without a word. */
#define GRACE_NS 250000000u

/* How long nobody lives before a child that was forked is taken never to come. */
#define FORK_NS 2000000000u

/* How long others may take to start Python when none is left. */
#define STRANGERS_NS (RUN_STRANGERS_S * 1000000000ull)

/* Between two looks whether a process that the kernel knows is still the same. */
#define LIVES_NS 1000000000u

/* Between two profiles for the case that this process is killed; they may take
 * this part (1/n) of the time. */
#define CHECKPOINT_NS 5000000000u
#define CHECKPOINT_BUDGET 100u

/* --- the process --- */

/* Somebody wants this very process to end, as when the machine is shut down:
 * what is known is written, and more may come. */
static volatile sig_atomic_t is_asked_to_end;

static void on_end(int number)
{
	(void)number;
	is_asked_to_end = 1;
}

static void set_signals(void)
{
	static const int to_end[] = {SIGTERM, SIGINT, SIGHUP};
	struct sigaction note = {.sa_handler = on_end};
	for (size_t i = 0; i < sizeof(to_end) / sizeof(to_end[0]); i++)
		sigaction(to_end[i], &note, NULL);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* files of ours may be larger than the user lets the program make */
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Out of the user's session; of the files only the one for messages is kept. */
static void leave_session(const struct link *link)
{
	int kept[] = {STDERR_FILENO, link->to_collector[0], link->to_front[1]};
	setsid();
	descriptors_close_all_but(kept, sizeof(kept) / sizeof(kept[0]));
	descriptors_silence(STDIN_FILENO);
	descriptors_silence(STDOUT_FILENO);
}

/* --- the loop --- */

/* Where the loop stands. */
struct wheel {
	struct link *link;
	uint64_t ended_ns;      /* when the program ended; 0: it runs */
	uint64_t deserted_ns;   /* since when no process lives; 0: one does */
	uint64_t next_write_ns; /* 0: only at the end */
	uint64_t next_lives_ns;
	uint64_t next_checkpoint_ns;
	bool is_background;     /* the user has got what there was to say */
	pid_t teller;           /* or gets it from this process, which writes what is known so far */
	uint32_t told_rings;    /* how many there had been by then, */
	uint32_t told_living;   /* and how many of them were still there */
	bool has_user;          /* one waits, or did */
	struct strangers strangers;
};

/* Those that outlive the program are waited for; a GPU works while all wait. */
static unsigned next_pause_ms(struct collector *collector, const struct wheel *wheel)
{
	uint64_t now_ns = clock_monotonic_ns();
	bool is_calm = wheel->ended_ns == 0 && !collector->gpu.is_sampled &&
		       collector->astir_ns != 0 && now_ns > collector->astir_ns;
	return pace_next_ms(is_calm ? now_ns - collector->astir_ns : 0, collector->watch_cost_ns,
			    &collector->random);
}

static uint32_t count_living(const struct collector *collector)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < collector->processes.count; i++)
		count += collector->processes.items[i]->ring != NULL;
	return count;
}

/* Whether somebody else of the run may still start Python. */
static bool has_strangers(const struct collector *collector, struct wheel *wheel)
{
	const struct control *control = collector->control;
	uint64_t now_ns = clock_monotonic_ns();
	struct strangers_run run = {
		.folder = collector->folder,
		.program = atomic_load(&control->program_pid),
		.age_ns = now_ns - collector->start_ns,
		.alone_ns = now_ns - wheel->deserted_ns,
	};
	bool is_first_only = control->is_first_only != 0 && atomic_load(&control->first_pid) != 0;
	return wheel->has_user && !is_first_only && run.alone_ns < STRANGERS_NS &&
	       strangers_are_there(&wheel->strangers, &run);
}

/* Whether there is none, and none to come: what daemons are made of is a parent that
 * ends as soon as it has a child.  A child first shows its ring, then is no longer counted. */
static bool is_deserted(const struct collector *collector, struct wheel *wheel)
{
	const struct control *control = collector->control;
	if (count_living(collector) != 0) {
		wheel->deserted_ns = 0;
		return false;
	}
	if (wheel->deserted_ns == 0)
		wheel->deserted_ns = clock_monotonic_ns();
	bool is_forking = atomic_load(&control->forking) > 0 &&
			  clock_monotonic_ns() - wheel->deserted_ns < FORK_NS;
	return !is_forking && atomic_load(&control->rings) == collector->rings_seen &&
	       !has_strangers(collector, wheel);
}

static uint64_t last_end_ns(const struct collector *collector)
{
	uint64_t end_ns = collector->start_ns;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		if (collector->processes.items[i]->end_ns > end_ns)
			end_ns = collector->processes.items[i]->end_ns;
	}
	return end_ns;
}

static void note_end(struct collector *collector, struct wheel *wheel)
{
	wheel->ended_ns = clock_monotonic_ns();
	if (collector->end_ns == 0)
		collector->end_ns = wheel->ended_ns;
}

/* What the front says, and that it is silent for ever. */
static void hear_front(struct collector *collector, struct wheel *wheel)
{
	int kind = link_receive(wheel->link->to_collector[0], (int)next_pause_ms(collector, wheel));
	if (kind == LINK_ENDED || (kind < 0 && collector->options->is_session))
		note_end(collector, wheel);
	if (kind >= 0)
		return;
	/* Nobody is there to be told anything. */
	close(wheel->link->to_collector[0]);
	wheel->link->to_collector[0] = -1;
	descriptors_silence(STDERR_FILENO);
	wheel->is_background = true;
}

/* Without a front: is the program still there? */
static void look_at_program(struct collector *collector, struct wheel *wheel)
{
	const struct control *control = collector->control;
	if (wheel->ended_ns == 0 &&
	    !procfs_is_alive(atomic_load(&control->program_pid),
			   atomic_load(&control->program_start)))
		note_end(collector, wheel);
}

/* A front that has stopped with the program goes on with it. */
static void wake_front(const struct control *control)
{
	struct procfs_stat stat;
	if (atomic_load(&control->is_front_stopped) != 0 &&
	    procfs_stat(atomic_load(&control->program_pid), &stat) && stat.state != 'T' &&
	    stat.state != 't')
		kill(atomic_load(&control->front_pid), SIGCONT);
}

static void wait_a_round(struct collector *collector, struct wheel *wheel)
{
	if (wheel->link->to_collector[0] >= 0) {
		hear_front(collector, wheel);
		if (collector->options->is_session)
			look_at_program(collector, wheel);
		else
			wake_front(collector->control);
	} else {
		usleep(next_pause_ms(collector, wheel) * 1000);
		look_at_program(collector, wheel);
	}
}

/* Whether somebody tells us when the program has ended, which has not. */
static bool has_front(const struct collector *collector, const struct wheel *wheel)
{
	return wheel->link->to_collector[0] >= 0 && wheel->ended_ns == 0 &&
	       !collector->options->is_session;
}

static void write_as_wanted(struct collector *collector, struct wheel *wheel)
{
	struct control *control = collector->control;
	uint64_t interval_ns = (uint64_t)(collector->options->profile_interval_s * 1e9);
	uint32_t wanted = atomic_load(&control->writes_wanted);
	bool is_due = interval_ns != 0 && clock_monotonic_ns() >= wheel->next_write_ns;
	if (!is_due && wanted == atomic_load(&control->writes_done) && !is_asked_to_end)
		return;
	is_asked_to_end = 0;
	atomic_store(&control->is_write_failed, output_in_between(collector) == 0 ? 0 : 1);
	atomic_store(&control->writes_done, wanted);
	wheel->next_write_ns = clock_monotonic_ns() + interval_ns;
}

/* Somebody watches the page of the run. */
static void show_as_wanted(struct collector *collector)
{
	struct control *control = collector->control;
	uint32_t wanted = atomic_load(&control->shows_wanted);
	if (wanted == atomic_load(&control->shows_done))
		return;
	output_show(collector);
	atomic_store(&control->shows_done, wanted);
}

/* Follows what somebody has said with "heatline on" or "off". */
static void follow_switch(struct collector *collector)
{
	struct control *control = collector->control;
	bool is_off = atomic_load(&control->is_off) != 0;
	if (is_off == collector->is_off)
		return;
	uint64_t now_ns = clock_monotonic_ns();
	if (is_off)
		watch_suspend(collector);
	else
		watch_resume(collector);
	if (is_off)
		atomic_store(&control->off_since_ns, now_ns);
	else
		atomic_fetch_add(&control->suspended_ns, now_ns - atomic_load(&control->off_since_ns));
	collector->is_off = is_off;
}

/* The journal keeps no more: the profile so far stands in for it. */
static void checkpoint(struct collector *collector, struct wheel *wheel)
{
	uint64_t begin_ns = clock_monotonic_ns();
	output_checkpoint(collector);
	uint64_t end_ns = clock_monotonic_ns();
	uint64_t pause_ns = (end_ns - begin_ns) * CHECKPOINT_BUDGET;
	wheel->next_checkpoint_ns = end_ns + (pause_ns > CHECKPOINT_NS ? pause_ns : CHECKPOINT_NS);
}

static void turn(struct collector *collector, struct wheel *wheel)
{
	processes_discover(collector);
	processes_drain(collector);
	if (clock_monotonic_ns() >= wheel->next_lives_ns || wheel->ended_ns != 0) {
		processes_look_at_lives(collector);
		wheel->next_lives_ns = clock_monotonic_ns() + LIVES_NS;
	}
	follow_switch(collector);
	if (!collector->is_off)
		watch_round(collector);
	memory_round(collector);
	gpu_round(collector);
	atomic_store(&collector->control->samples,
		     collector->cpu_samples + collector->wait_samples);
	write_as_wanted(collector, wheel);
	show_as_wanted(collector);
	if (!collector->options->is_session && journal_is_full(&collector->journal) &&
	    clock_monotonic_ns() >= wheel->next_checkpoint_ns)
		checkpoint(collector, wheel);
}

/* The program has ended, others go on. */
static bool is_to_be_told(const struct wheel *wheel)
{
	return !wheel->is_background && (wheel->deserted_ns == 0 || wheel->strangers.count != 0) &&
	       clock_monotonic_ns() - wheel->ended_ns > GRACE_NS;
}

/* Returns true in a process of its own that tells the user so. */
static bool go_to_background(const struct collector *collector, struct wheel *wheel)
{
	wheel->is_background = true;
	wheel->told_rings = collector->rings_seen;
	wheel->told_living = count_living(collector);
	wheel->teller = fork();
	if (wheel->teller == 0)
		return true;
	link_fini(wheel->link);
	descriptors_silence(STDERR_FILENO);
	return false;
}

enum loop_end {
	LOOP_OVER,
	LOOP_TELL, /* in the process that tells what there is so far */
	LOOP_TOLD, /* there is no more than was told then: another run's profile may stand there now */
};

static enum loop_end loop(struct collector *collector, struct link *link, uint32_t *strangers)
{
	bool has_user = link->to_collector[0] >= 0;
	struct wheel wheel = {.link = link, .is_background = !has_user, .has_user = has_user};
	wheel.next_lives_ns = clock_monotonic_ns() + LIVES_NS;
	wheel.next_write_ns =
		collector->start_ns + (uint64_t)(collector->options->profile_interval_s * 1e9);
	for (;;) {
		wait_a_round(collector, &wheel);
		collector->has_front = has_front(collector, &wheel);
		turn(collector, &wheel);
		collector->is_catching_up = false;
		if (wheel.ended_ns == 0)
			continue;
		if (collector->options->is_session)
			return LOOP_OVER;
		if (is_deserted(collector, &wheel)) {
			if (wheel.is_background)
				collector->end_ns = last_end_ns(collector);
			if (wheel.teller > 0) /* the last profile is to be ours */
				waitpid(wheel.teller, NULL, 0);
			bool is_told = wheel.teller > 0 && wheel.told_living == 0 &&
				       wheel.told_rings == collector->rings_seen;
			return is_told ? LOOP_TOLD : LOOP_OVER;
		}
		*strangers = wheel.deserted_ns == 0 ? 0 : wheel.strangers.count;
		if (is_to_be_told(&wheel) && go_to_background(collector, &wheel))
			return LOOP_TELL;
	}
}

/* Waits until there is something to collect. */
static bool await_start(const struct link *link)
{
	int kind;
	do
		kind = link_receive(link->to_collector[0], -1);
	while (kind == 0);
	return kind == LINK_STARTED;
}

/* Where an earlier collector of this run came to, if there was one. */
static void go_on_from_journal(struct collector *collector)
{
	journal_init(&collector->journal, collector->folder);
	collector->is_catching_up = true;
	collector->is_second = journal_replay(collector);
	collector->is_catching_up = collector->is_second;
	if (!collector->is_second)
		return;
	processes_go_on(collector);
	if (journal_is_full(&collector->journal))
		output_keep_checkpoint(collector);
}

/* A session begins when the agent says so in the control page. */
static void set_start(struct collector *collector)
{
	const struct control *control = collector->control;
	collector->start_ns = control->start_ns;
	collector->start_epoch_s = control->start_epoch_s;
}

void collector_run(const struct run_options *options, char *folder, struct control *control,
		   struct link *link, struct run_result *result, struct err *err)
{
	bool has_front = link->to_front[1] >= 0;
	set_signals();
	if (has_front)
		leave_session(link);
	struct collector *collector = collector_new(options);
	collector->folder = folder;
	collector->control = control;
	set_start(collector);
	collector->is_off = atomic_load(&control->is_off) != 0;
	collector->gpu.is_foreign = gpu_is_foreign();
	if (!options->is_session)
		go_on_from_journal(collector);
	if (!has_front || await_start(link)) {
		set_start(collector);
		enum loop_end end = loop(collector, link, &result->strangers);
		result->still_running = count_living(collector);
		if (options->is_session)
			atomic_store(&control->is_off, 1); /* for children that go on */
		if (end != LOOP_TOLD)
			output_finish(collector, result->still_running != 0, result, err);
		if (end == LOOP_TELL)
			collector->folder = NULL; /* the other process's */
	}
	result->link_fd = link->to_front[1];
	collector_free(collector);
}
