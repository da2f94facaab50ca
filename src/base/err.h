/* err.h - what went wrong: a code from one list, and a sentence for the user.
 *
 * Functions that can fail return 0 or a negative code.  Where the reason is
 * worth telling they take a last `struct err *` (NULL: nobody asks), which is
 * filled once, where the fact is known:
 *
 *	if (!file)
 *		return err_set(err, ERR_NOT_FOUND, "no profile at '%s'", path);
 *
 * The sentence has no capital, no full stop and no newline: cli/ adds them. */
#ifndef HEATLINE_BASE_ERR_H
#define HEATLINE_BASE_ERR_H

/* Functions return the negated code. */
enum err_code {
	ERR_NONE, /* no error */
	ERR_USAGE,
	ERR_NOT_FOUND,
	ERR_PERMISSION,
	ERR_NO_SPACE,
	ERR_IO, /* reading or writing failed */
	ERR_TOO_LARGE,
	ERR_FORMAT, /* of a file: not what was expected */
	ERR_UNSUPPORTED,
	ERR_TARGET, /* the target process cannot be used */
	ERR_SYSTEM, /* the operating system refused */
};

#define ERR_MESSAGE_BYTES 1024

struct err {
	enum err_code code;
	char message[ERR_MESSAGE_BYTES]; /* always terminated; long ones are cut */
};

/* Fills *err (when not NULL) and returns -code. */
int err_set(struct err *err, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As err_set, with the code that fits an errno value, and its text after
 * "the sentence: ". */
int err_set_errno(struct err *err, int error_number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Forgets; also how a struct err begins its life. */
void err_clear(struct err *err);

#endif
