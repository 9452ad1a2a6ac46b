// SPDX-License-Identifier: Apache-2.0
// Typed doors to libcurl's variadic functions and macros. No logic.
#ifndef C_PINTLE_CURL_H
#define C_PINTLE_CURL_H

#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075800
#error "libcurl 7.88 or newer is needed"
#endif

static inline CURLcode pintle_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode pintle_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode pintle_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode pintle_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

typedef int (*pintle_resolver_function)(void *resolver, void *reserved, void *context);
typedef curl_socket_t (*pintle_open_function)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*pintle_close_function)(void *context, curl_socket_t socket);
typedef int (*pintle_socket_function)(CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context);
typedef int (*pintle_timer_function)(CURLM *multi, long milliseconds, void *context);

static inline CURLcode pintle_set_resolver_function(CURL *easy, pintle_resolver_function function) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, function);
}
static inline CURLcode pintle_set_open_function(CURL *easy, pintle_open_function function) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}
static inline CURLcode pintle_set_close_function(CURL *easy, pintle_close_function function) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}
static inline CURLcode pintle_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode pintle_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode pintle_get_text(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, (char **)value);
}
static inline CURLcode pintle_get_socket(CURL *easy, curl_socket_t *value) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}

static inline CURLMcode pintle_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode pintle_multi_set_socket_function(CURLM *multi, pintle_socket_function function, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
    return code != CURLM_OK ? code : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
}
static inline CURLMcode pintle_multi_set_timer_function(CURLM *multi, pintle_timer_function function, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
    return code != CURLM_OK ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

/// The result of a finished transfer; `easy` is NULL when there is no message.
typedef struct { CURL *easy; CURLcode result; } pintle_finished;
static inline pintle_finished pintle_multi_next_finished(CURLM *multi) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)))
        if (message->msg == CURLMSG_DONE)
            return (pintle_finished){message->easy_handle, message->data.result};
    return (pintle_finished){NULL, CURLE_OK};
}

/// Basic authentication; for SOCKS, by user name and password.
static const long pintle_auth_basic = CURLAUTH_BASIC;

/// curl_global_init's macro; once per process, before any thread.
static inline CURLcode pintle_curl_start(void) { return curl_global_init(CURL_GLOBAL_ALL); }

/// The TLS library that libcurl was built with, such as `OpenSSL/3.0.19`; NULL when there is none.
static inline const char *pintle_curl_tls_library(void) { return curl_version_info(CURLVERSION_NOW)->ssl_version; }
#endif
