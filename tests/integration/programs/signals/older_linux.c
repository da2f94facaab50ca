/* older_linux.c - preloaded, it calls the system Linux 6.1: perf events cannot send their
 * signal by themselves there.  (They can, in fact, but are not asked to.) */
#include <string.h>
#include <sys/utsname.h>

int uname(struct utsname *system)
{
	memset(system, 0, sizeof(*system));
	strcpy(system->sysname, "Linux");
	strcpy(system->release, "6.1.0");
	return 0;
}
