// SPDX-License-Identifier: Apache-2.0
#ifndef C_PINTLE_BROTLI_H
#define C_PINTLE_BROTLI_H

#include <brotli/decode.h>

#endif
