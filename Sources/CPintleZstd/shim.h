// SPDX-License-Identifier: Apache-2.0
#ifndef C_PINTLE_ZSTD_H
#define C_PINTLE_ZSTD_H

#include <zstd.h>
#include <zstd_errors.h>

#endif
