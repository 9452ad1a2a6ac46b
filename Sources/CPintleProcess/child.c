// SPDX-License-Identifier: Apache-2.0
// A child from its fork to its program. With processes of its own there are three forks:
//
//   Pintle ── maker         makes the namespaces, the network and the mounts, and ends
//     ├────── first         process 1 of the new processes, which collects those that their parents leave
//     └────── command       a child of Pintle's all the same: its end, stops and signals are those of any child
#define _GNU_SOURCE
#include "CPintleProcess.h"
#include "files.h"
#include "first.h"
#include "handover.h"
#include "signals.h"
#include "sockets.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAST_SIGNAL = 64 };

/// The processes that a maker has forked, in memory that it shares with its parent.
typedef struct {
    pid_t first, command;
} family;

// MARK: Between fork and exec: only what is safe in a signal handler

/// Goes on as the command among processes of its own. The maker itself ends here. Returns 0, or the step that failed.
static int enter_processes(const pintle_child *child, int control, family *made, int32_t *place) {
    pid_t first = pintle_fork_beside();
    if (first == 0) pintle_be_first(control);
    if (first < 0) return PINTLE_CHILD_FORK;
    made->first = first;
    pid_t command = pintle_fork_beside();
    if (command < 0) return PINTLE_CHILD_FORK;
    if (command > 0) {
        made->command = command;
        _exit(0);
    }
    return pintle_arrange_processes(child, place) == 0 ? 0 : PINTLE_CHILD_PROCESSES;
}

/// Moves into namespaces of its own, from which nothing that the program does leads out.
static void isolate(const pintle_child *child, int control, unsigned user, unsigned group, family *made) {
    pintle_network network;
    int32_t place = -1;
    int step = pintle_leave_network(user, group, child->hides_processes);
    if (step == 0) step = pintle_open_network(child, &network);
    if (step == 0 && pintle_arrange_files(child, &place, &network.flags) != 0) step = PINTLE_CHILD_FILES;
    if (step == 0 && child->hides_processes) step = enter_processes(child, control, made, &place);
    if (step != 0) pintle_fail(control, (pintle_child_step)step, place);
    if (pintle_drop_capabilities() != 0) pintle_fail(control, PINTLE_CHILD_CAPABILITIES, -1);
    if (pintle_hand_over(control, &network) != 0) pintle_fail(control, PINTLE_CHILD_LISTENER, -1);
}

static void do_nothing(int number) { (void)number; }

/// Gives the program the signals that this process was started with. A Ctrl-Z before the program runs does nothing: the parent
/// waits for the program, and would not see the child stop.
static void reset_signals(void) {
    uint64_t ignored = pintle_inherited_ignored_signals(), inherited = pintle_inherited_blocked_signals();
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int number = 1; number <= LAST_SIGNAL; number++) {
        uint64_t bit = UINT64_C(1) << (number - 1);
        // A handler is replaced by the default in execve(2), where what is ignored stays ignored.
        int stops = number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
        struct sigaction action = {.sa_handler = stops ? do_nothing : SIG_DFL};
        if (ignored & bit) action.sa_handler = SIG_IGN;
        sigaction(number, &action, NULL);
        if (inherited & bit) sigaddset(&blocked, number);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

static void run_child(const pintle_child *child, int control, unsigned user, unsigned group, family *made) {
    if (child->port != 0) isolate(child, control, user, group, made);
    char go;
    ssize_t count;
    do {
        count = recv(control, &go, 1, 0);
    } while (count < 0 && errno == EINTR);
    if (count != 1) _exit(127);
    // Namespaces and programs with privileges of their own take that back, so it comes behind the first; for the second nothing can
    // be done.
    pintle_signal_with_parent(control, SIGTERM);
    if (child->terminal >= 0) {
        // All signals are blocked here, or SIGTTOU would stop a group that is not in the foreground yet.
        if (setpgid(0, 0) != 0 || tcsetpgrp(child->terminal, getpid()) != 0)
            pintle_fail(control, PINTLE_CHILD_TERMINAL, -1);
    }
    if (child->port != 0 && pintle_keep_signals() != 0) pintle_fail(control, PINTLE_CHILD_PROCESSES, -1);
    if (child->port != 0 && pintle_filter_calls() != 0) pintle_fail(control, PINTLE_CHILD_SOCKETS, -1);
    reset_signals();
    execve(child->program, child->arguments, child->environment);
    pintle_fail(control, PINTLE_CHILD_PROGRAM, -1);
}

// MARK: The parent

static void reap(pid_t process) {
    while (process > 0 && waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
}

void pintle_end_processes(pintle_forked *forked) {
    if (forked->first <= 0) return;
    kill(forked->first, SIGKILL);
    reap(forked->first);
    forked->first = -1;
}

void pintle_abandon(pintle_forked *forked) {
    close(forked->control);
    // The first one's end waits for that of all others, whose parents must have taken their status.
    if (forked->first > 0) kill(forked->first, SIGKILL);
    reap(forked->process);
    pintle_end_processes(forked);
}

static int failed(pintle_forked *forked, pintle_report failure) {
    forked->step = failure.step;
    forked->code = failure.code;
    forked->place = failure.place;
    pintle_abandon(forked);
    return -1;
}

/// Forks, with everything blocked in the child: no handler of this process may run in it.
static pid_t fork_blocked(const pintle_child *child, const int ends[2], family *made) {
    unsigned user = geteuid(), group = getegid();
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        run_child(child, ends[1], user, group, made);
    }
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    errno = code;
    return process;
}

static int lacks_process(pintle_forked *forked) {
    forked->step = PINTLE_CHILD_FORK;
    forked->code = errno;
    return -1;
}

int pintle_fork(const pintle_child *child, pintle_forked *forked) {
    *forked = (pintle_forked){
        .process = -1, .first = -1, .control = -1, .listener = -1, .captures = {-1, -1}, .resolvers_udp = {-1, -1},
        .resolvers_tcp = {-1, -1}, .diagnosis = -1, .place = -1};
    family *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return lacks_process(forked);
    int ends[2];
    pid_t process = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
        process = fork_blocked(child, ends, made);
        forked->control = ends[0];
    }
    if (process > 0 && child->hides_processes) {
        reap(process);
        process = made->command;
        forked->first = made->first;
    }
    int code = errno;
    munmap(made, sizeof *made);
    errno = code;
    if (process < 0) {
        if (forked->control >= 0) close(forked->control);
        return lacks_process(forked);
    }
    forked->process = process;
    if (child->port == 0) return 0;
    pintle_report report = pintle_take_over(forked);
    return report.step == 0 ? 0 : failed(forked, report);
}

int pintle_execute(pintle_forked *forked) {
    pintle_report report = pintle_await_program(forked->control);
    if (report.step != 0) return failed(forked, report);
    close(forked->control);
    return 0;
}
