// SPDX-License-Identifier: Apache-2.0

#include "CPintleSchemas.h"

// #embed is of C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char configurations[] = {
#embed "../../conf/pintle.schema.json"
};
static const unsigned char policy_tests[] = {
#embed "../../conf/pintle-test.schema.json"
};

struct pintle_schema pintle_schema_of_configurations(void) {
    return (struct pintle_schema){configurations, sizeof configurations};
}

struct pintle_schema pintle_schema_of_policy_tests(void) {
    return (struct pintle_schema){policy_tests, sizeof policy_tests};
}
