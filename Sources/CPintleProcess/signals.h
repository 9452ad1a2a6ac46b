// SPDX-License-Identifier: Apache-2.0
#ifndef PINTLE_SIGNALS_H
#define PINTLE_SIGNALS_H

/// Keeps the signals of this thread, and of all that it starts, among these: its process group may have others. Does nothing on
/// kernels before 6.12, or without Landlock. The thread has no new privileges (pintle_drop_capabilities). Returns 0, or -1 with errno.
int pintle_keep_signals(void);

#endif
