/* err.c - fill a struct err. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum err_code code, const char *format, ...)
{
	if (err) {
		err->code = code;
		va_list args;
		va_start(args, format);
		vsnprintf(err->message, sizeof(err->message), format, args);
		va_end(args);
	}
	return -(int)code;
}

static enum err_code code_for_errno(int error_number)
{
	switch (error_number) {
	case ENOENT:
	case ENOTDIR:
	case ESRCH:
		return ERR_NOT_FOUND;
	case EACCES:
	case EPERM:
	case EROFS:
		return ERR_PERMISSION;
	case ENOSPC:
	case EDQUOT:
		return ERR_NO_SPACE;
	case EFBIG:
	case ENAMETOOLONG:
		return ERR_TOO_LARGE;
	case EIO:
		return ERR_IO;
	default:
		return ERR_SYSTEM;
	}
}

int err_set_errno(struct err *err, int error_number, const char *format, ...)
{
	enum err_code code = code_for_errno(error_number);
	if (err) {
		err->code = code;
		va_list args;
		va_start(args, format);
		int written = vsnprintf(err->message, sizeof(err->message), format, args);
		va_end(args);
		size_t used = written < 0 ? 0 : (size_t)written;
		if (used < sizeof(err->message))
			snprintf(err->message + used, sizeof(err->message) - used, ": %s",
				 strerror(error_number));
	}
	return -(int)code;
}

void err_clear(struct err *err)
{
	err->code = ERR_NONE;
	err->message[0] = '\0';
}
