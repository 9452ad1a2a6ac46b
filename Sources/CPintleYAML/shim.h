// SPDX-License-Identifier: Apache-2.0
// libyaml, whose parser alone is used. No logic.
#ifndef C_PINTLE_YAML_H
#define C_PINTLE_YAML_H

#include <yaml.h>

#endif
