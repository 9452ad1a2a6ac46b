// SPDX-License-Identifier: Apache-2.0
// Processes of a namespace of their own (pid_namespaces(7)). Everything here is safe between fork and exec.
#ifndef PINTLE_FIRST_H
#define PINTLE_FIRST_H

#include <sys/types.h>

/// Forks a process that is a child of this process's parent, and in the namespace of processes that this process has made.
pid_t pintle_fork_beside(void);

/// Has this process sent a signal when its parent ends, however that ends, and ends it if the parent is gone already.
///
/// - control: a socket whose other end the parent alone has.
void pintle_signal_with_parent(int control, int signal);

/// Makes this process the first of its namespace: it collects those that their parents leave. When Pintle is gone, it has all others end.
_Noreturn void pintle_be_first(int control);

#endif
