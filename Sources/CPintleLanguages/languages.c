// SPDX-License-Identifier: Apache-2.0
#include "CPintleLanguages.h"

#include <stdint.h>

// A table of ICU's data that has no entries, as the "stub data" of ICU's own build is one: a header that says in which
// form the table is (udata.h, UDataInfo), then how many entries follow. The format has not changed since ICU 2.
struct pintle_language_table {
    uint16_t header_size;
    uint8_t magic[2];
    uint16_t info_size;
    uint16_t reserved;
    uint8_t is_big_endian, character_set, character_size, padding;
    uint8_t format[4], format_version[4], data_version[4];
    uint8_t rest_of_header[8];
    uint32_t count;
    uint32_t end;
};

_Static_assert(sizeof(struct pintle_language_table) == 40, "32 bytes of header, then the table");

__attribute__((aligned(16))) const struct pintle_language_table pintle_no_languages = {
    .header_size = 32,
    .magic = {0xDA, 0x27},
    .info_size = 20,
    .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
    .character_size = 2,
    .format = {'T', 'o', 'C', 'P'},
    .format_version = {1},
};
