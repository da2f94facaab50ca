/* rescue.c - see rescue.h. */
#include "collect/rescue.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"

#define NAME "heatline-profile-XXXXXX"
#define SUFFIX ".json"

/* The path of a new file there that holds the profile, or NULL. */
static char *write_in(const char *folder, const struct profile *profile,
		      const struct write_options *options)
{
	char *path = path_join(folder, NAME SUFFIX);
	/* Others may write in that folder too: made first, no link of theirs is followed. */
	int fd = mkstemps(path, (int)sizeof(SUFFIX) - 1);
	if (fd >= 0) {
		close(fd);
		if (profile_write(profile, options, path, NULL) == 0)
			return path;
		unlink(path);
	}
	free(path);
	return NULL;
}

static char *write_anywhere(const struct profile *profile, const struct write_options *options)
{
	const char *places[] = {getenv("TMPDIR"), "/tmp", "/dev/shm"};
	char *path = NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && path == NULL; i++) {
		if (places[i] != NULL && places[i][0] == '/')
			path = write_in(places[i], profile, options);
	}
	return path;
}

int rescue_write(const struct profile *profile, const struct write_options *options,
		 const char *path, char **elsewhere, struct err *err)
{
	struct err why;
	int status = profile_write(profile, options, path, &why);
	*elsewhere = NULL;
	if (status == 0)
		return 0;
	*elsewhere = write_anywhere(profile, options);
	if (*elsewhere == NULL)
		return err_set(err, why.code, "%s", why.message);
	return err_set(err, why.code, "%s; the profile is in '%s' instead", why.message, *elsewhere);
}
