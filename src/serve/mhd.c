/* mhd.c - open libmicrohttpd. */
#include "serve/mhd.h"

#include <stddef.h>

#include "base/library.h"

#define LIBRARY "libmicrohttpd.so.12"

struct mhd mhd;

static const struct library_function functions[] = {
#define X(name) {"MHD_" #name, offsetof(struct mhd, name), false},
	MHD_LIST(X)
#undef X
};

int mhd_open(struct err *err)
{
	struct mhd found;
	const char *missing;

	if (mhd.start_daemon)
		return 0;
	void *library = library_open(LIBRARY, functions, sizeof(functions) / sizeof(functions[0]),
				     &found, &missing);
	if (missing)
		return err_set(err, ERR_UNSUPPORTED, LIBRARY " has no %s", missing);
	if (!library)
		return err_set(err, ERR_UNSUPPORTED,
			       "serving the page takes " LIBRARY ", which is not installed "
			       "(Debian: libmicrohttpd12); the page as a file does without: "
			       "heatline view --html");
	mhd = found;
	return 0;
}
