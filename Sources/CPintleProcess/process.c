// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CPintleProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { LAST_SIGNAL = 64 };

static uint64_t bit(int number) { return UINT64_C(1) << (number - 1); }

// MARK: Before main

// Gives the Swift runtime the arguments. By itself it looks for them below the environment in memory, and finds none if a
// preloaded library has set a variable before main, which moves the environment elsewhere.
void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count);

// glibc gives constructors what main gets. The program runs them after those of preloaded libraries.
__attribute__((constructor)) static void take_arguments(int count, char **arguments) {
    // A descriptor that is opened later must not get the number of a standard stream: log lines would go into it.
    for (int number = 0; number <= STDERR_FILENO; number++) {
        if (fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
        // The lowest number that is free is this one.
        if (open("/dev/null", O_RDWR) != number) _exit(4);
    }
    _swift_stdlib_overrideUnsafeArgvArgc(arguments, count);
}

// MARK: What was inherited

static uint64_t inherited_ignored;
static uint64_t inherited_blocked;

__attribute__((constructor)) static void remember_signals(void) {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number <= LAST_SIGNAL; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN) inherited_ignored |= bit(number);
        if (sigismember(&blocked, number) == 1) inherited_blocked |= bit(number);
    }
}

uint64_t pintle_inherited_ignored_signals(void) { return inherited_ignored; }
uint64_t pintle_inherited_blocked_signals(void) { return inherited_blocked; }

char **pintle_environment(void) { return environ; }

void pintle_name_this_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

// MARK: Catching

static volatile sig_atomic_t signal_pipe = -1;

static void note(int number, siginfo_t *info, void *context) {
    (void)context;
    int code = errno;
    // SI_USER, SI_QUEUE and SI_TKILL are 0 and below; what the kernel says by itself is above.
    pintle_signal signal = {.number = number, .is_sent = info->si_code <= 0};
    // A full pipe has thousands of signals that nobody has looked at yet: one more says nothing new.
    if (write(signal_pipe, &signal, sizeof signal) < 0) {}
    errno = code;
}

void pintle_catch_signals(uint64_t signals, int pipe) {
    signal_pipe = pipe;
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    for (int number = 1; number <= LAST_SIGNAL; number++) {
        // The end of a child is always wanted; some hosts ignore SIGCHLD, and waitpid(2) would find nothing then.
        int is_wanted = (signals & bit(number)) && (!(inherited_ignored & bit(number)) || number == SIGCHLD);
        if (is_wanted) sigaction(number, &action, NULL);
    }
}

void pintle_raise_default(int signal) {
    struct sigaction before, continuing, standard = {.sa_handler = SIG_DFL};
    sigset_t only, mask;
    sigemptyset(&only);
    sigaddset(&only, signal);
    // The SIGCONT that ends a stop is told by the return of this call. A handler may run much later, on another thread, and
    // what it writes would pass for a SIGCONT that came after the next stop.
    sigaction(SIGCONT, &standard, &continuing);
    // Sent to this thread, so that the signal has had its effect when the call returns; and before the default is set, while
    // the signal is blocked. The same signal may arrive from the terminal and stop the process in between: the SIGCONT that
    // ends that stop also removes this pending one, which would otherwise stop the process a second time.
    pthread_sigmask(SIG_BLOCK, &only, &mask);
    pthread_kill(pthread_self(), signal);
    sigaction(signal, &standard, &before);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (signal != SIGSTOP) sigaction(signal, &before, NULL);
    // It is pending all the same if a handler, which blocks all signals, was running on another thread. To set the default once
    // more discards it.
    sigaction(SIGCONT, &standard, NULL);
    sigaction(SIGCONT, &continuing, NULL);
}

int pintle_adopts_orphans(void) {
    int is_subreaper = 0;
    return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper) == 0 && is_subreaper);
}
