// SPDX-License-Identifier: Apache-2.0
// A process may signal its group, and the command's group has Pintle and the other programs of its job. No namespace changes
// that: a domain of landlock(7) does, whose only rule is about signals.
#define _GNU_SOURCE
#include "signals.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// Linux 5.13 and 6.12; older headers lack them. The numbers are the same everywhere.
enum { CREATE_RULESET = 444, RESTRICT_SELF = 446 };
enum { RULESET_VERSION = 1, FIRST_VERSION_WITH_SCOPES = 6, SCOPE_SIGNAL = 2 };

int pintle_keep_signals(void) {
    struct {
        uint64_t files, network, scopes;
    } rules = {.scopes = SCOPE_SIGNAL};
    if (syscall(CREATE_RULESET, NULL, 0, RULESET_VERSION) < FIRST_VERSION_WITH_SCOPES) return 0;
    long set = syscall(CREATE_RULESET, &rules, sizeof rules, 0);
    if (set < 0) return -1;
    long result = syscall(RESTRICT_SELF, set, 0);
    close((int)set);
    return (int)result;
}
