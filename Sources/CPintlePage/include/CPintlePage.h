// SPDX-License-Identifier: Apache-2.0
#ifndef CPINTLE_PAGE_H
#define CPINTLE_PAGE_H

#include <stddef.h>

/// A file of the page of the admin endpoint.
struct pintle_page_file {
    const char *name;
    /// The value of Content-Type.
    const char *type;
    const unsigned char *bytes;
    size_t length;
};

size_t pintle_page_file_count(void);

/// The file with that number from zero; a null pointer beyond the last.
const struct pintle_page_file *pintle_page_file(size_t number);

#endif
