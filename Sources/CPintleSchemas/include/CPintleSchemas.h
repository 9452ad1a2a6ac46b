// SPDX-License-Identifier: Apache-2.0
#ifndef CPINTLE_SCHEMAS_H
#define CPINTLE_SCHEMAS_H

#include <stddef.h>

/// A file as bytes of the program.
struct pintle_schema {
    const unsigned char *bytes;
    size_t length;
};

/// The JSON Schema of configurations.
struct pintle_schema pintle_schema_of_configurations(void);

/// The JSON Schema of files with policy tests.
struct pintle_schema pintle_schema_of_policy_tests(void);

#endif
