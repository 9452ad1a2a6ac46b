// SPDX-License-Identifier: Apache-2.0
// The mounts of a command, which hide sockets and processes of the machine. Everything here is safe between fork and exec.
#ifndef PINTLE_FILES_H
#define PINTLE_FILES_H

#include "CPintleProcess.h"

/// Arranges the places of a child that has mounts of its own, but for those of processes. Needs CAP_SYS_ADMIN there. Returns 0, or
/// -1 with errno and the place at which it failed, which is -1 for the whole.
int pintle_arrange_files(const pintle_child *child, int32_t *place, uint32_t *flags);

/// Mounts /proc for a child that has processes of its own. Returns 0, or -1 with errno and the place.
int pintle_arrange_processes(const pintle_child *child, int32_t *place);

#endif
