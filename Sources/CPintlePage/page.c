// SPDX-License-Identifier: Apache-2.0

#include "CPintlePage.h"

// #embed is of C23.
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
static const unsigned char actions_js[] = {
#embed "page/assets/actions.js"
};
static const unsigned char api_js[] = {
#embed "page/assets/api.js"
};
static const unsigned char app_js[] = {
#embed "page/assets/app.js"
};
static const unsigned char detail_js[] = {
#embed "page/assets/detail.js"
};
static const unsigned char dom_js[] = {
#embed "page/assets/dom.js"
};
static const unsigned char events_js[] = {
#embed "page/assets/events.js"
};
static const unsigned char filter_js[] = {
#embed "page/assets/filter.js"
};
static const unsigned char format_js[] = {
#embed "page/assets/format.js"
};
static const unsigned char grid_js[] = {
#embed "page/assets/grid.js"
};
static const unsigned char header_js[] = {
#embed "page/assets/header.js"
};
static const unsigned char hosts_js[] = {
#embed "page/assets/hosts.js"
};
static const unsigned char keys_js[] = {
#embed "page/assets/keys.js"
};
static const unsigned char list_js[] = {
#embed "page/assets/list.js"
};
static const unsigned char preview_js[] = {
#embed "page/assets/preview.js"
};
static const unsigned char questions_js[] = {
#embed "page/assets/questions.js"
};
static const unsigned char routes_js[] = {
#embed "page/assets/routes.js"
};
static const unsigned char running_js[] = {
#embed "page/assets/running.js"
};
static const unsigned char signin_js[] = {
#embed "page/assets/signin.js"
};
static const unsigned char store_js[] = {
#embed "page/assets/store.js"
};
static const unsigned char style_css[] = {
#embed "page/assets/style.css"
};
static const unsigned char token_js[] = {
#embed "page/assets/token.js"
};
static const unsigned char trust_js[] = {
#embed "page/assets/trust.js"
};
static const unsigned char unused_js[] = {
#embed "page/assets/unused.js"
};
static const unsigned char waterfall_js[] = {
#embed "page/assets/waterfall.js"
};

#define FILE(name, type, bytes) {name, type, bytes, sizeof bytes}

static const struct pintle_page_file files[] = {
    FILE("index.html", HTML, index_html),
    FILE("signin.html", HTML, signin_html),
    FILE("actions.js", SCRIPT, actions_js),
    FILE("api.js", SCRIPT, api_js),
    FILE("app.js", SCRIPT, app_js),
    FILE("detail.js", SCRIPT, detail_js),
    FILE("dom.js", SCRIPT, dom_js),
    FILE("events.js", SCRIPT, events_js),
    FILE("filter.js", SCRIPT, filter_js),
    FILE("format.js", SCRIPT, format_js),
    FILE("grid.js", SCRIPT, grid_js),
    FILE("header.js", SCRIPT, header_js),
    FILE("hosts.js", SCRIPT, hosts_js),
    FILE("keys.js", SCRIPT, keys_js),
    FILE("list.js", SCRIPT, list_js),
    FILE("preview.js", SCRIPT, preview_js),
    FILE("questions.js", SCRIPT, questions_js),
    FILE("routes.js", SCRIPT, routes_js),
    FILE("running.js", SCRIPT, running_js),
    FILE("signin.js", SCRIPT, signin_js),
    FILE("store.js", SCRIPT, store_js),
    FILE("style.css", STYLE, style_css),
    FILE("token.js", SCRIPT, token_js),
    FILE("trust.js", SCRIPT, trust_js),
    FILE("unused.js", SCRIPT, unused_js),
    FILE("waterfall.js", SCRIPT, waterfall_js),
};

size_t pintle_page_file_count(void) { return sizeof files / sizeof *files; }

const struct pintle_page_file *pintle_page_file(size_t number) {
    return number < pintle_page_file_count() ? files + number : NULL;
}
