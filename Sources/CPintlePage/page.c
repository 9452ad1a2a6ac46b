// SPDX-License-Identifier: Apache-2.0

#include "CPintlePage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

#define HTML "text/html; charset=utf-8"
#define STYLE "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char signin_html[] = {
#embed "page/signin.html"
};

static const struct pintle_page_file files[] = {
    {"index.html", HTML, index_html, sizeof index_html},
    {"signin.html", HTML, signin_html, sizeof signin_html},
};

size_t pintle_page_file_count(void) { return sizeof files / sizeof *files; }

const struct pintle_page_file *pintle_page_file(size_t number) {
    return number < pintle_page_file_count() ? files + number : NULL;
}
