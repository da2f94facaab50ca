/* blocked_call.c - see blocked_call.h. */
#include "remote/blocked_call.h"

#include <stdio.h>
#include <sys/syscall.h>

bool blocked_call_parse(const char *text, struct blocked_call *call)
{
	unsigned long long first = 0, second = 0;
	long number;
	if (sscanf(text, "%ld %llx %llx", &number, &first, &second) < 1)
		return false;
	*call = (struct blocked_call){number, {first, second}};
	return true;
}

bool blocked_call_is_futex(const struct blocked_call *call, uint64_t start, uint64_t end)
{
	return call->number == SYS_futex && call->arguments[0] >= start && call->arguments[0] < end;
}

bool blocked_call_is_sleep(const struct blocked_call *call)
{
#ifdef __x86_64__
	if (call->number == SYS_select && call->arguments[0] == 0)
		return true;
	if (call->number == SYS_poll && call->arguments[1] == 0)
		return true;
#endif
	return (call->number == SYS_pselect6 && call->arguments[0] == 0) ||
	       (call->number == SYS_ppoll && call->arguments[1] == 0);
}
