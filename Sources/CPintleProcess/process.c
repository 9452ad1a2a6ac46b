// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CPintleProcess.h"
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
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

static int write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t length = (ssize_t)strlen(text);
    int failed = write(file, text, length) != length;
    int code = errno;
    close(file);
    errno = code;
    return failed ? -1 : 0;
}

/// `id id 1`: the same user outside and inside.
static void map_line(unsigned id, char *line) {
    char digits[16];
    int count = 0;
    do {
        digits[count++] = '0' + id % 10;
        id /= 10;
    } while (id > 0);
    int at = 0;
    for (int i = count; i > 0; i--) line[at++] = digits[i - 1];
    line[at++] = ' ';
    for (int i = count; i > 0; i--) line[at++] = digits[i - 1];
    memcpy(line + at, " 1", 3);
}

/// A network of its own. Root needs no users of its own for that, and keeps its groups and its power over files.
static void leave_network(int control, unsigned user, unsigned group) {
    if (user == 0 && unshare(CLONE_NEWNET) == 0) return;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) fail(control, PINTLE_CHILD_NAMESPACE);
    char line[64];
    map_line(user, line);
    if (write_file("/proc/self/uid_map", line) != 0) fail(control, PINTLE_CHILD_USER);
    // Kernels before 3.19 have no such file, and need none.
    if (write_file("/proc/self/setgroups", "deny") != 0 && errno != ENOENT) fail(control, PINTLE_CHILD_USER);
    map_line(group, line);
    if (write_file("/proc/self/gid_map", line) != 0) fail(control, PINTLE_CHILD_USER);
}

static void switch_loopback_on(int control) {
    int link = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request;
    memset(&request, 0, sizeof request);
    memcpy(request.ifr_name, "lo", 3);
    if (link < 0 || ioctl(link, SIOCGIFFLAGS, &request) != 0) fail(control, PINTLE_CHILD_LOOPBACK);
    request.ifr_flags |= IFF_UP;
    if (ioctl(link, SIOCSIFFLAGS, &request) != 0) fail(control, PINTLE_CHILD_LOOPBACK);
    close(link);
}

static void hand_over_listener(int control, int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0)
        fail(control, PINTLE_CHILD_LISTENER);
    report ready = {0};
    struct iovec bytes = {.iov_base = &ready, .iov_len = sizeof ready};
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } rights;
    memset(&rights, 0, sizeof rights);
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof listener);
    memcpy(CMSG_DATA(header), &listener, sizeof listener);
    if (sendmsg(control, &message, MSG_NOSIGNAL) < 0) fail(control, PINTLE_CHILD_LISTENER);
    close(listener);
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
    if (child->port != 0) {
        leave_network(control, user, group);
        switch_loopback_on(control);
        hand_over_listener(control, child->port);
    }
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

/// Reads a report and the descriptor that may come with it. Returns its length; 0 when the child has closed its end.
static ssize_t receive(int control, report *answer, int *descriptor) {
    struct iovec bytes = {.iov_base = answer, .iov_len = sizeof *answer};
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } rights;
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
    ssize_t count;
    do {
        count = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    struct cmsghdr *header = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (descriptor && header && header->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(header), sizeof(int));
    return count;
}

static int failed(pintle_forked *forked, report failure) {
    forked->step = failure.step;
    forked->code = failure.code;
    close(forked->control);
    reap(forked);
    return -1;
}

int pintle_fork(const pintle_child *child, pintle_forked *forked) {
    *forked = (pintle_forked){.process = -1, .control = -1, .listener = -1};
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
    report answer = {.step = PINTLE_CHILD_NAMESPACE, .code = ECHILD};
    ssize_t count = receive(forked->control, &answer, &forked->listener);
    if (count <= 0 || answer.step != 0 || forked->listener < 0) return failed(forked, answer);
    return 0;
}

int pintle_execute(pintle_forked *forked) {
    char go = 1;
    report answer = {.step = PINTLE_CHILD_PROGRAM, .code = ECHILD};
    if (send(forked->control, &go, 1, MSG_NOSIGNAL) != 1) return failed(forked, answer);
    // Its end closes with exec.
    if (receive(forked->control, &answer, NULL) > 0) return failed(forked, answer);
    close(forked->control);
    return 0;
}
