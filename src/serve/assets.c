/* assets.c - the parts that assets.S (made by embed.py) holds. */
#include "serve/assets.h"

#include <string.h>

#include "base/mem.h"
#include "serve/gzip.h"

#define MAX_ASSET_BYTES ((size_t)64 << 20)

/* X(number in embed.py's NAMES, name, type) */
#define ASSET_LIST(X)                                       \
	X(0, "index.html", "text/html; charset=utf-8")      \
	X(1, "app.js", "text/javascript; charset=utf-8")    \
	X(2, "app.css", "text/css; charset=utf-8")          \
	X(3, "standalone.html", "text/html; charset=utf-8")

#define X(number, name, type) \
	extern const unsigned char heatline_asset_##number[], heatline_asset_##number##_end[];
ASSET_LIST(X)
#undef X

static const struct asset assets[] = {
#define X(number, name, type) \
	{name, type, heatline_asset_##number, heatline_asset_##number##_end},
	ASSET_LIST(X)
#undef X
};

int assets_check(struct err *err)
{
	if (asset_find("index.html"))
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "this heatline was built without its page, because node and npm were not "
		       "there; build it again with them, or use: heatline view --cli");
}

const struct asset *asset_find(const char *name)
{
	for (size_t i = 0; i < sizeof(assets) / sizeof(assets[0]); i++) {
		if (strcmp(assets[i].name, name) == 0)
			return assets[i].gzip < assets[i].gzip_end ? &assets[i] : NULL;
	}
	return NULL;
}

char *asset_expand(const struct asset *asset, size_t *size)
{
	size_t gzip_size = (size_t)(asset->gzip_end - asset->gzip);
	char *bytes = gzip_expand(asset->gzip, gzip_size, MAX_ASSET_BYTES, size);

	if (!bytes) /* it was made together with this executable: only memory can lack */
		mem_exhausted(gzip_size);
	return bytes;
}
