// SPDX-License-Identifier: Apache-2.0
// A line about the signal that ends this process by its own fault. Everything here is safe in a signal handler.
#define _GNU_SOURCE
#include "CPintleProcess.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    int number;
    const char *name;
    const char *meaning;
} fatal_signal;

static const fatal_signal signals[] = {
    {SIGSEGV, "SIGSEGV", "it used memory that is not its own"},
    {SIGILL, "SIGILL", "a check of its code failed"},
    {SIGTRAP, "SIGTRAP", "a check of its code failed"},
    {SIGABRT, "SIGABRT", "it gave up"},
    {SIGBUS, "SIGBUS", "memory or a file that it used is gone"},
    {SIGFPE, "SIGFPE", "a calculation has no result"},
};
enum { COUNT = sizeof signals / sizeof *signals };

/// Handlers from before, such as that of Swift's backtraces.
static struct sigaction earlier[COUNT];

typedef struct {
    char text[512];
    size_t length;
} line;

static void add(line *line, const char *text) {
    size_t length = strlen(text);
    if (length > sizeof line->text - line->length) return;
    memcpy(line->text + line->length, text, length);
    line->length += length;
}

static void add_number(line *line, int value) {
    char digits[16];
    size_t at = sizeof digits;
    digits[--at] = 0;
    do {
        digits[--at] = '0' + value % 10;
        value /= 10;
    } while (value > 0);
    add(line, digits + at);
}

static void write_line(const fatal_signal *signal, const siginfo_t *info) {
    line line = {.length = 0};
    add(&line, "pintle: ended by ");
    add(&line, signal->name);
    // SI_USER and SI_QUEUE name a sender; abort(3) is one's own.
    if ((info->si_code == SI_USER || info->si_code == SI_QUEUE) && info->si_pid != getpid()) {
        add(&line, ", which process ");
        add_number(&line, info->si_pid);
        add(&line, " has sent\n");
    } else {
        add(&line, " (");
        add(&line, signal->meaning);
        add(&line, "): a defect of pintle; please report it with the lines around this one, with what `pintle version` says "
                   "and with what it was doing\n");
    }
    // A pipe that is full and has no reader must not keep the process from ending.
    struct pollfd place = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&place, 1, 0) == 1 && write(STDERR_FILENO, line.text, line.length) < 0) {}
}

static void end(int number, siginfo_t *info, void *context) {
    for (size_t index = 0; index < COUNT; index++) {
        if (signals[index].number != number) continue;
        write_line(&signals[index], info);
        const struct sigaction *next = &earlier[index];
        if (next->sa_flags & SA_SIGINFO) next->sa_sigaction(number, info, context);
        else if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN) next->sa_handler(number);
    }
    // The process ends by the signal that it got, with a core where one is wanted.
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(number, &standard, NULL);
    raise(number);
}

void pintle_tell_of_fatal_signals(void) {
    // On a stack of its own if there is one: a handler cannot run on a stack that has overflowed. Nothing is blocked: Swift's
    // backtraces read memory that may be gone, and catch the signal that says so.
    struct sigaction action = {.sa_sigaction = end, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    for (size_t index = 0; index < COUNT; index++) sigaction(signals[index].number, &action, &earlier[index]);
}
