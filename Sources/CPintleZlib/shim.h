// SPDX-License-Identifier: Apache-2.0
// Typed doors to zlib's macros. No logic.
#ifndef C_PINTLE_ZLIB_H
#define C_PINTLE_ZLIB_H

#include <zlib.h>

// The macro adds the version and the size of the structure that the caller was compiled with.
static inline int pintle_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

// Bare deflate; the window is 9 to 15 bits.
static inline int pintle_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, -window_bits, 8, Z_DEFAULT_STRATEGY);
}

#endif
