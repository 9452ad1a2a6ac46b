// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CPintleProcess.h"
#include "network.h"
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
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

// MARK: The child, between fork and exec: only what is safe in a signal handler

typedef struct {
    int32_t step;
    int32_t code;
} report;

static void fail(int control, pintle_child_step step) {
    report failure = {.step = step, .code = errno};
    send(control, &failure, sizeof failure, MSG_NOSIGNAL);
    _exit(127);
}

/// A report, and with a step of 0 the sockets of the network, whose descriptors come beside it in their order.
typedef struct {
    report report;
    uint32_t flags;
    int32_t rules_code;
    /// The sockets that there are, as bits.
    uint32_t present;
} handover;

typedef union {
    char space[CMSG_SPACE(PINTLE_SOCKET_COUNT * sizeof(int))];
    struct cmsghdr header;
} rights;

static int hand_over(int control, const pintle_network *network) {
    handover made = {.flags = network->flags, .rules_code = network->rules_code};
    int descriptors[PINTLE_SOCKET_COUNT], count = 0;
    for (int index = 0; index < PINTLE_SOCKET_COUNT; index++) {
        if (network->sockets[index] < 0) continue;
        made.present |= 1u << index;
        descriptors[count++] = network->sockets[index];
    }
    struct iovec bytes = {.iov_base = &made, .iov_len = sizeof made};
    rights rights;
    memset(&rights, 0, sizeof rights);
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
    ssize_t sent = sendmsg(control, &message, MSG_NOSIGNAL);
    int code = errno;
    for (int index = 0; index < count; index++) close(descriptors[index]);
    errno = code;
    return sent < 0 ? -1 : 0;
}

/// Moves into a network of its own, from which nothing that the program does leads out.
static void enter_network(const pintle_child *child, int control, unsigned user, unsigned group) {
    pintle_network network;
    int step = pintle_leave_network(user, group);
    if (step == 0) step = pintle_open_network(child, &network);
    if (step != 0) fail(control, (pintle_child_step)step);
    if (pintle_drop_capabilities() != 0) fail(control, PINTLE_CHILD_CAPABILITIES);
    if (hand_over(control, &network) != 0) fail(control, PINTLE_CHILD_LISTENER);
}

static void do_nothing(int number) { (void)number; }

/// Gives the program the signals that this process was started with. A Ctrl-Z before the program runs does nothing: the parent
/// waits for the program, and would not see the child stop.
static void reset_signals(void) {
    for (int number = 1; number <= LAST_SIGNAL; number++) {
        // A handler is replaced by the default in execve(2), where what is ignored stays ignored.
        int stops = number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
        struct sigaction action = {.sa_handler = stops ? do_nothing : SIG_DFL};
        if (inherited_ignored & bit(number)) action.sa_handler = SIG_IGN;
        sigaction(number, &action, NULL);
    }
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int number = 1; number <= LAST_SIGNAL; number++)
        if (inherited_blocked & bit(number)) sigaddset(&blocked, number);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

/// Has SIGTERM sent to this process when its parent ends, however that ends. Namespaces and programs with privileges of
/// their own take that back, so it comes behind the first; for the second nothing can be done.
static void end_with(pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent) _exit(127);
}

static void run_child(const pintle_child *child, int control, pid_t parent, unsigned user, unsigned group) {
    if (child->port != 0) enter_network(child, control, user, group);
    char go;
    ssize_t count;
    do {
        count = recv(control, &go, 1, 0);
    } while (count < 0 && errno == EINTR);
    if (count != 1) _exit(127);
    end_with(parent);
    if (child->terminal >= 0) {
        // All signals are blocked here, or SIGTTOU would stop a group that is not in the foreground yet.
        if (setpgid(0, 0) != 0 || tcsetpgrp(child->terminal, getpid()) != 0) fail(control, PINTLE_CHILD_TERMINAL);
    }
    if (child->port != 0 && pintle_keep_to_network_sockets() != 0) fail(control, PINTLE_CHILD_SOCKETS);
    reset_signals();
    execve(child->program, child->arguments, child->environment);
    fail(control, PINTLE_CHILD_PROGRAM);
}

// MARK: The parent

static void reap(const pintle_forked *forked) {
    while (waitpid(forked->process, NULL, 0) < 0 && errno == EINTR) {}
}

/// Reads a report, and the descriptors that may come with it, of which it takes as many as there are sockets. Returns its length; 0
/// when the child has closed its end.
static ssize_t receive(int control, handover *answer, int *descriptors, int *count) {
    struct iovec bytes = {.iov_base = answer, .iov_len = sizeof *answer};
    rights rights;
    memset(&rights, 0, sizeof rights);
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
    ssize_t length;
    do {
        length = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    struct cmsghdr *header = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *count = 0;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        *count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(header), *count * sizeof(int));
    }
    return length;
}

/// Gives each descriptor its place. Returns -1 if some did not come, as when this process may open no more.
static int take_sockets(pintle_forked *forked, const handover *made, const int *descriptors, int count) {
    int32_t *places[PINTLE_SOCKET_COUNT] = {
        &forked->listener, &forked->captures[0], &forked->captures[1], &forked->resolvers_udp[0],
        &forked->resolvers_udp[1], &forked->resolvers_tcp[0], &forked->resolvers_tcp[1], &forked->diagnosis};
    int taken = 0;
    if (__builtin_popcount(made->present) != count) {
        while (taken < count) close(descriptors[taken++]);
        return -1;
    }
    for (int index = 0; index < PINTLE_SOCKET_COUNT; index++)
        if (made->present & 1u << index) *places[index] = descriptors[taken++];
    forked->flags = made->flags;
    forked->rules_code = made->rules_code;
    return 0;
}

static int failed(pintle_forked *forked, report failure) {
    forked->step = failure.step;
    forked->code = failure.code;
    close(forked->control);
    reap(forked);
    return -1;
}

int pintle_fork(const pintle_child *child, pintle_forked *forked) {
    *forked = (pintle_forked){
        .process = -1, .control = -1, .listener = -1, .captures = {-1, -1}, .resolvers_udp = {-1, -1},
        .resolvers_tcp = {-1, -1}, .diagnosis = -1};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        forked->step = PINTLE_CHILD_FORK;
        forked->code = errno;
        return -1;
    }
    pid_t parent = getpid();
    unsigned user = geteuid(), group = getegid();
    // The child begins with everything blocked: no handler of this process may run in it.
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        run_child(child, ends[1], parent, user, group);
    }
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        forked->step = PINTLE_CHILD_FORK;
        forked->code = code;
        return -1;
    }
    forked->process = process;
    forked->control = ends[0];
    if (child->port == 0) return 0;
    handover answer = {.report = {.step = PINTLE_CHILD_NAMESPACE, .code = ECHILD}};
    int descriptors[PINTLE_SOCKET_COUNT], received = 0;
    ssize_t count = receive(forked->control, &answer, descriptors, &received);
    if (count <= 0 || answer.report.step != 0) return failed(forked, answer.report);
    if (take_sockets(forked, &answer, descriptors, received) == 0) return 0;
    return failed(forked, (report){.step = PINTLE_CHILD_LISTENER, .code = EMFILE});
}

int pintle_execute(pintle_forked *forked) {
    char go = 1;
    report answer = {.step = PINTLE_CHILD_PROGRAM, .code = ECHILD};
    if (send(forked->control, &go, 1, MSG_NOSIGNAL) != 1) return failed(forked, answer);
    // Its end closes with exec.
    ssize_t count;
    do {
        count = recv(forked->control, &answer, sizeof answer, 0);
    } while (count < 0 && errno == EINTR);
    if (count > 0) return failed(forked, answer);
    close(forked->control);
    return 0;
}
