/* gpu_library.c - find the CUPTI that goes with the driver.
 *
 * Two of them in one process do not work, so one that is there already (PyTorch
 * links it) is taken.  Else it is looked for where programs bring it along:
 * in the packages beside a library that is loaded, then where the system and
 * the toolkit have it.  A CUPTI newer than the driver does not work; an older
 * one does as a rule. */
#include "agent/gpu.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWEST_MAJOR 13
#define OLDEST_MAJOR 11
#define PACKAGE_FOLDERS 8u
#define PATH_BYTES 1024u

struct cupti g_cupti;
static void *library;
static bool is_open;

void *gpu_library_driver(const char *name)
{
	static void *driver;
	if (driver == NULL)
		driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	return driver == NULL ? NULL : dlsym(driver, name);
}

/* The CUDA version that the driver knows; the newest when it does not say. */
static int driver_major(void)
{
	int (*get_version)(int *);
	int version = 0;
	*(void **)&get_version = gpu_library_driver("cuDriverGetVersion");
	if (get_version == NULL || get_version(&version) != 0 || version < 1000)
		return NEWEST_MAJOR;
	return version / 1000;
}

/* Folders with packages, of which something is loaded. */
struct packages {
	char folders[PACKAGE_FOLDERS][PATH_BYTES];
	uint32_t count;
};

static void note_folder(struct packages *packages, const char *path, size_t size)
{
	if (packages->count == PACKAGE_FOLDERS || size >= PATH_BYTES)
		return;
	for (uint32_t i = 0; i < packages->count; i++) {
		if (strlen(packages->folders[i]) == size &&
		    memcmp(packages->folders[i], path, size) == 0)
			return;
	}
	memcpy(packages->folders[packages->count], path, size);
	packages->folders[packages->count++][size] = '\0';
}

static int look_at_image(struct dl_phdr_info *info, size_t size, void *data)
{
	static const char *const marks[] = {"/site-packages/", "/dist-packages/"};
	(void)size;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *at = strstr(info->dlpi_name, marks[i]);
		if (at != NULL)
			note_folder(data, info->dlpi_name,
				    (size_t)(at - info->dlpi_name) + strlen(marks[i]) - 1);
	}
	return 0;
}

static void *open_in(const char *folder, const char *below, int major)
{
	char path[PATH_BYTES + 100];
	snprintf(path, sizeof(path), "%s/%s/libcupti.so.%d", folder, below, major);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_from_packages(const struct packages *packages, int major)
{
	char named[40];
	void *found = NULL;
	snprintf(named, sizeof(named), "nvidia/cu%d/lib", major);
	for (uint32_t i = 0; i < packages->count && found == NULL; i++) {
		found = open_in(packages->folders[i], named, major);
		if (found == NULL)
			found = open_in(packages->folders[i], "nvidia/cuda_cupti/lib", major);
	}
	return found;
}

static void *open_from_toolkit(int major)
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
	char folder[40];
	void *found = NULL;
	for (size_t i = 0; i < 2 && found == NULL; i++) {
		const char *home = getenv(variables[i]);
		if (home != NULL && strlen(home) < PATH_BYTES)
			found = open_in(home, "extras/CUPTI/lib64", major);
	}
	snprintf(folder, sizeof(folder), "/usr/local/cuda-%d", major);
	if (found == NULL)
		found = open_in("/usr/local/cuda", "extras/CUPTI/lib64", major);
	if (found == NULL)
		found = open_in(folder, "extras/CUPTI/lib64", major);
	if (found == NULL)
		found = open_in("/opt/cuda", "extras/CUPTI/lib64", major);
	return found;
}

static void *open_by_name(int major, int flags)
{
	char name[32];
	snprintf(name, sizeof(name), "libcupti.so.%d", major);
	return dlopen(name, flags);
}

static void *find_library(void)
{
	void *found = NULL;
	for (int major = NEWEST_MAJOR + 1; major >= OLDEST_MAJOR && found == NULL; major--)
		found = open_by_name(major, RTLD_NOW | RTLD_NOLOAD);
	if (found != NULL)
		return found;
	struct packages packages = {.count = 0};
	dl_iterate_phdr(look_at_image, &packages);
	for (int major = driver_major(); major >= OLDEST_MAJOR && found == NULL; major--) {
		found = open_from_packages(&packages, major);
		if (found == NULL)
			found = open_by_name(major, RTLD_NOW | RTLD_LOCAL);
		if (found == NULL)
			found = open_from_toolkit(major);
	}
	return found;
}

void *gpu_library_find(const char *name)
{
	return dlsym(library, name);
}

const char *gpu_library_open(void)
{
	uint32_t version = 0;
	/* Once: gpu_yield_guard has changed what its names lead to. */
	if (is_open)
		return NULL;
	library = find_library();
	if (library == NULL)
		return "CUPTI is not installed (pip install nvidia-cuda-cupti)";
#define X(name, parameters) *(void **)&g_cupti.name = dlsym(library, #name);
	CUPTI_FUNCTIONS(X)
#undef X
#define X(name, parameters) || g_cupti.name == NULL
	if (false CUPTI_FUNCTIONS(X))
		return "this CUPTI lacks functions that are needed";
#undef X
	if (g_cupti.cuptiGetVersion(&version) != CUPTI_DONE || version < CUPTI_OLDEST_VERSION)
		return "this CUPTI is too old (CUDA 11.4 and later are known)";
	is_open = true;
	return NULL;
}
