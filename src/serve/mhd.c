/* mhd.c - open libmicrohttpd. */
#include "serve/mhd.h"

#include <dlfcn.h>
#include <stddef.h>

#define LIBRARY "libmicrohttpd.so.12"

struct mhd mhd;

int mhd_open(struct err *err)
{
	if (mhd.start_daemon)
		return 0;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return err_set(err, ERR_UNSUPPORTED,
			       "serving the page takes " LIBRARY ", which is not installed "
			       "(Debian: libmicrohttpd12); the page as a file does without: "
			       "heatline view --html");
	struct mhd found;
#define X(name)                                                                      \
	*(void **)&found.name = dlsym(library, "MHD_" #name);                        \
	if (!found.name)                                                             \
		return err_set(err, ERR_UNSUPPORTED, LIBRARY " has no MHD_" #name);
	MHD_LIST(X)
#undef X
	mhd = found;
	return 0;
}
