// SPDX-License-Identifier: Apache-2.0
// The messages of a child between fork and exec to its parent.
#ifndef PINTLE_HANDOVER_H
#define PINTLE_HANDOVER_H

#include "network.h"

typedef struct {
    /// The step that failed (pintle_child_step), and errno; 0 if none has.
    int32_t step;
    int32_t code;
    /// The index of the place that is the cause, or -1.
    int32_t place;
} pintle_report;

/// Tells of a failure, with errno, and ends this process.
_Noreturn void pintle_fail(int control, pintle_child_step step, int32_t place);

/// Gives the sockets of the network away. Returns 0, or -1 with errno.
int pintle_hand_over(int control, const pintle_network *network);

/// Takes what the child hands over, its sockets at their places. Returns a report, with a step of 0 if all came.
pintle_report pintle_take_over(pintle_forked *forked);

/// Waits until the child's program runs. Returns a report, with a step of 0 if it does.
pintle_report pintle_await_program(int control);

#endif
