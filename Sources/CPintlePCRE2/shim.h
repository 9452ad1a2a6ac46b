// SPDX-License-Identifier: Apache-2.0
// PCRE2 for subjects in UTF-8; its header wants to be told the width first. No logic.
#ifndef C_PINTLE_PCRE2_H
#define C_PINTLE_PCRE2_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#if PCRE2_MAJOR != 10 || PCRE2_MINOR < 40
#error "PCRE2 10.40 or newer is needed"
#endif
#endif
