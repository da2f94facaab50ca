/* bpf.h - what a seccomp filter would do to a system call.
 *
 * A filter is a small program without loops that is given the call's number, the machine's
 * architecture and the arguments.  It is run here for a number, with both outcomes of every
 * question that the number and the architecture do not answer. */
#ifndef HEATLINE_AGENT_BPF_H
#define HEATLINE_AGENT_BPF_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the filter may do to a call of this number, with whatever arguments, anything but
 * permit it or let it fail: kill, send a signal, ask somebody.  True too where that cannot be
 * told. */
bool bpf_may_end(const struct sock_filter *steps, size_t count, uint32_t call);

#endif
