// SPDX-License-Identifier: Apache-2.0
// Process 1 of the command's own processes. The kernel kills all of them when it ends.
#define _GNU_SOURCE
#include "first.h"
#include "network.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Linux 5.9; older headers have no number for it, which is the same everywhere.
enum { CLOSE_RANGE = 436 };
/// The time in seconds that processes have to end when Pintle is gone.
enum { PATIENCE = 5 };

pid_t pintle_fork_beside(void) { return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0); }

void pintle_signal_with_parent(int control, int signal) {
    char next;
    if (prctl(PR_SET_PDEATHSIG, signal) != 0 || recv(control, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0) _exit(127);
}

/// Closes all descriptors: pipes of the command would stay open at this end.
static void close_all(void) {
    if (syscall(CLOSE_RANGE, 0, ~0U, 0) == 0) return;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(127);
    for (rlim_t number = 0; number < limit.rlim_cur; number++) close((int)number);
}

static void collect(void) {
    while (waitpid(-1, NULL, WNOHANG) > 0) {}
}

/// Has the processes end as they would elsewhere. Those that do not are killed when this one ends.
static void dismiss(const sigset_t *end) {
    struct timespec now, pause = {.tv_nsec = 20 * 1000 * 1000};
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t last = now.tv_sec + PATIENCE;
    kill(-1, SIGTERM);
    while (now.tv_sec < last && (kill(-1, 0) == 0 || errno != ESRCH)) {
        // The command is no child of this process.
        sigtimedwait(end, NULL, &pause);
        collect();
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    _exit(0);
}

void pintle_be_first(int control) {
    // Its memory is a copy of Pintle's. Nobody without CAP_SYS_PTRACE where Pintle was started reads that, or its descriptors.
    if (prctl(PR_SET_DUMPABLE, 0) != 0 || pintle_drop_capabilities() != 0 || chdir("/") != 0) _exit(127);
    prctl(PR_SET_NAME, "pintle-first");
    // No program sends the last signal, which has no meaning elsewhere.
    int parent_ended = SIGRTMAX;
    pintle_signal_with_parent(control, parent_ended);
    close_all();
    // All signals are blocked here, and none from inside can kill process 1 (pid_namespaces(7)).
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGCHLD);
    sigaddset(&end, parent_ended);
    for (;;) {
        collect();
        siginfo_t info;
        // From inside, the sender has a number.
        if (sigwaitinfo(&end, &info) == parent_ended && info.si_pid == 0) dismiss(&end);
    }
}
