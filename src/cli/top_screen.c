/* top_screen.c - see top_screen.h.
 *
 * Everything that comes from the program is written into a memory stream
 * first, through glyph.h, which lets only harmless characters through. */
#include "cli/top_screen.h"

#include <curses.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/top_table.h"
#include "profile/source.h"
#include "report/glyph.h"

#define STEP_S 0.1
#define STEPS_PER_TABLE 8 /* a new table every 0.8 s */
#define FILTER_BYTES 64u
#define ROWS_ABOVE 3

struct screen {
	struct attach *attach; /* borrowed */
	pid_t pid;
	struct profile *profile; /* owned; the newest */
	struct top_table table;
	enum top_view view;
	enum top_sort sort;
	char filter[FILTER_BYTES];
	bool is_typing;  /* the filter */
	bool is_paused;
	bool is_ended;   /* the process */
	bool has_source; /* a line's source is shown */
	uint32_t selected;
	struct style style;
};

static volatile sig_atomic_t is_asked_to_end;

static void on_signal(int number)
{
	(void)number;
	is_asked_to_end = 1;
}

/* ---- drawing ---- */

/* Writes one line of the screen through a function that prints. */
static void put_line(int y, int attributes, char *text)
{
	attrset((attr_t)attributes);
	mvaddnstr(y, 0, text, -1);
	clrtoeol();
	attrset(A_NORMAL);
	free(text);
}

static char *text_of_row(const struct screen *screen, const struct top_row *row)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out) {
		top_row_put(out, &screen->style, &screen->table, row);
		fclose(out);
	}
	return text ? text : strdup("");
}

static char *text_of_heading(const struct screen *screen, const struct attach_figures *figures, bool is_first)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out && is_first)
		top_heading_put(out, &screen->style, screen->pid, figures);
	else if (out)
		top_figures_put(out, figures);
	if (out)
		fclose(out);
	return text ? text : strdup("");
}

static int heat_of(const struct screen *screen, const struct top_row *row)
{
	double share = screen->table.whole_s > 0 ? row->own_s / screen->table.whole_s : 0;

	return share >= 0.2 ? A_BOLD | COLOR_PAIR(1) : share >= 0.05 ? COLOR_PAIR(1) : A_NORMAL;
}

static void draw_rows(struct screen *screen)
{
	int room = LINES - ROWS_ABOVE - 1;
	uint32_t first = 0;

	if (screen->selected >= screen->table.count)
		screen->selected = screen->table.count ? screen->table.count - 1 : 0;
	if (room > 0 && screen->selected >= (uint32_t)room)
		first = screen->selected - (uint32_t)room + 1;
	for (int y = 0; y < room; y++) {
		uint32_t at = first + (uint32_t)y;

		if (at < screen->table.count) {
			const struct top_row *row = &screen->table.rows[at];
			int mark = at == screen->selected ? A_REVERSE : 0;

			put_line(ROWS_ABOVE + y, heat_of(screen, row) | mark, text_of_row(screen, row));
		} else {
			move(ROWS_ABOVE + y, 0);
			clrtoeol();
		}
	}
}

/* The source around the selected line. */
static void draw_source(struct screen *screen)
{
	const struct top_row *row = &screen->table.rows[screen->selected];
	int room = LINES - ROWS_ABOVE - 1;
	int64_t first = (int64_t)row->line - room / 2;

	for (int y = 0; y < room; y++) {
		int64_t line = first + y;
		size_t size = 0, text_size;
		const char *source = line > 0 && row->file ? source_file_line(row->file, (uint32_t)line, &size)
							   : "";
		char *text = NULL;
		FILE *out = open_memstream(&text, &text_size);

		if (!out)
			return;
		if (line > 0 && size > 0)
			fprintf(out, "%6lld  ", (long long)line);
		glyph_put(out, &screen->style, source, size,
			  screen->style.columns > 8 ? screen->style.columns - 8 : 1);
		fclose(out);
		put_line(ROWS_ABOVE + y, line == row->line ? A_BOLD | COLOR_PAIR(1) : A_NORMAL, text);
	}
}

static void draw(struct screen *screen)
{
	static const char *const sorts[] = {"own", "total", "name"};
	struct attach_figures figures;
	char foot[256];

	attach_figures(screen->attach, &figures);
	screen->style.columns = COLS > STYLE_MIN_COLUMNS ? (uint32_t)COLS : STYLE_MIN_COLUMNS;
	put_line(0, A_BOLD, text_of_heading(screen, &figures, true));
	put_line(1, A_NORMAL, text_of_heading(screen, &figures, false));
	put_line(2, A_UNDERLINE, strdup(top_columns(screen->view)));
	if (screen->has_source && screen->selected < screen->table.count)
		draw_source(screen);
	else
		draw_rows(screen);
	if (screen->is_typing)
		snprintf(foot, sizeof(foot), "filter: %s_", screen->filter);
	else
		snprintf(foot, sizeof(foot),
			 "%sq quit  l lines  f functions  t threads  s sort (%s)  / filter%s%s  space %s  r reset  "
			 "Enter source",
			 screen->is_ended ? "The process has ended.  " : "", sorts[screen->sort],
			 screen->filter[0] ? ": " : "", screen->filter,
			 screen->is_paused ? "go on" : "pause");
	put_line(LINES - 1, A_DIM, strdup(foot));
	refresh();
}

/* ---- keys ---- */

static void remake(struct screen *screen)
{
	if (screen->profile)
		top_table_make(&screen->table, screen->profile, screen->view, screen->sort, screen->filter);
}

static void new_profile(struct screen *screen)
{
	struct profile *profile = attach_profile(screen->attach, true);

	if (!profile)
		return;
	profile_free(screen->profile);
	screen->profile = profile;
	remake(screen);
}

static void type_filter(struct screen *screen, int key)
{
	size_t size = strlen(screen->filter);

	if (key == '\n' || key == KEY_ENTER)
		screen->is_typing = false;
	else if (key == 27) {
		screen->is_typing = false;
		screen->filter[0] = '\0';
	} else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && size > 0)
		screen->filter[size - 1] = '\0';
	else if (key >= ' ' && key < 256 && size + 1 < FILTER_BYTES) {
		screen->filter[size] = (char)key;
		screen->filter[size + 1] = '\0';
	}
	remake(screen);
}

static void show_view(struct screen *screen, enum top_view view)
{
	screen->view = view;
	screen->selected = 0;
	screen->has_source = false;
	remake(screen);
}

static void move_selection(struct screen *screen, int by)
{
	int64_t to = (int64_t)screen->selected + by;

	screen->selected = to < 0 ? 0 : (uint32_t)to;
	if (screen->selected >= screen->table.count && screen->table.count > 0)
		screen->selected = screen->table.count - 1;
}

/* False: quit. */
static bool on_key(struct screen *screen, int key)
{
	if (screen->is_typing) {
		type_filter(screen, key);
		return true;
	}
	switch (key) {
	case 'q':
		return false;
	case 'l':
		show_view(screen, TOP_LINES);
		break;
	case 'f':
		show_view(screen, TOP_FUNCTIONS);
		break;
	case 't':
		show_view(screen, TOP_THREADS);
		break;
	case 's':
		screen->sort = (screen->sort + 1) % TOP_SORTS;
		remake(screen);
		break;
	case '/':
		screen->is_typing = true;
		break;
	case ' ':
		screen->is_paused = !screen->is_paused;
		break;
	case 'r':
		attach_reset(screen->attach);
		break;
	case '\n':
	case KEY_ENTER:
		screen->has_source = !screen->has_source && screen->view != TOP_THREADS;
		break;
	case 27:
		screen->has_source = false;
		break;
	case KEY_UP:
		move_selection(screen, -1);
		break;
	case KEY_DOWN:
		move_selection(screen, 1);
		break;
	case KEY_PPAGE:
		move_selection(screen, -20);
		break;
	case KEY_NPAGE:
		move_selection(screen, 20);
		break;
	}
	return true;
}

/* ---- the loop ---- */

static void loop(struct screen *screen)
{
	for (unsigned step = 0; !is_asked_to_end; step++) {
		int key;

		if (!screen->is_ended)
			screen->is_ended = !attach_step(screen->attach, STEP_S);
		else
			napms((int)(STEP_S * 1000));
		if (!screen->is_paused && !screen->has_source && step % STEPS_PER_TABLE == 2)
			new_profile(screen);
		while ((key = getch()) != ERR) {
			if (!on_key(screen, key))
				return;
		}
		draw(screen);
	}
}

static void set_up(void)
{
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	if (has_colors()) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_RED, -1);
	}
}

int top_screen_run(struct attach *attach, pid_t pid, struct err *err)
{
	struct screen screen = {.attach = attach, .pid = pid};
	struct sigaction action = {.sa_handler = on_signal};
	char *here = getcwd(NULL, 0);

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		free(here);
		return err_set(err, ERR_USAGE, "top needs a terminal; without one: heatline top --once --json %d",
			       (int)pid);
	}
	style_init(&screen.style, STDOUT_FILENO, STYLE_COLOR_NEVER);
	screen.style.folder = here;
	SCREEN *terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		free(here);
		return err_set(err, ERR_USAGE, "this terminal (TERM) is not known; try: TERM=xterm heatline top %d",
			       (int)pid);
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	set_up();
	loop(&screen);
	endwin();
	delscreen(terminal);
	top_table_fini(&screen.table);
	profile_free(screen.profile);
	free(here);
	return 0;
}
