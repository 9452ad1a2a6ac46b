// SPDX-License-Identifier: Apache-2.0
// A typed door to zlib's macro. No logic.
#ifndef C_PINTLE_ZLIB_H
#define C_PINTLE_ZLIB_H

#include <zlib.h>

// The macro adds the version and the size of the structure that the caller was compiled with.
static inline int pintle_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

#endif
