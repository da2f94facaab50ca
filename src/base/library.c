/* library.c - see library.h. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

void *library_open(const char *file, const struct library_function *table, size_t count,
		   void *functions, const char **missing)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	*missing = NULL;
	if (!library)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		void *address = dlsym(library, table[i].name);

		if (!address && !table[i].is_optional) {
			*missing = table[i].name;
			dlclose(library);
			return NULL;
		}
		memcpy((char *)functions + table[i].offset, &address, sizeof(address));
	}
	return library;
}
