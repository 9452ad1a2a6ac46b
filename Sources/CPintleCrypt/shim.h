// SPDX-License-Identifier: Apache-2.0
// libcrypt's password hashes; without its state, whose 32 KiB Swift would import as a tuple. No logic.
#ifndef C_PINTLE_CRYPT_H
#define C_PINTLE_CRYPT_H

#include <crypt.h>
#include <stddef.h>

static inline size_t pintle_crypt_state_size(void) { return sizeof(struct crypt_data); }

static inline const char *pintle_crypt(const char *phrase, const char *setting, void *zeroed_state) {
    return crypt_rn(phrase, setting, zeroed_state, (int)sizeof(struct crypt_data));
}
#endif
