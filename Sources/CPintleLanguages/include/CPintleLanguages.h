// SPDX-License-Identifier: Apache-2.0
// Nothing calls this: the linker alone knows the name (Package.swift).
#ifndef C_PINTLE_LANGUAGES_H
#define C_PINTLE_LANGUAGES_H

extern const struct pintle_language_table pintle_no_languages;

#endif
