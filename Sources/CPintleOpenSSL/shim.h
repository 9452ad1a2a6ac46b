// SPDX-License-Identifier: Apache-2.0

// Doors to what Swift cannot import from OpenSSL: macros, typed stack accessors and variadic functions.
// No logic lives here.

#ifndef CPINTLE_OPENSSL_SHIM_H
#define CPINTLE_OPENSSL_SHIM_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// Memory

static inline void pintle_openssl_free(void *pointer) { OPENSSL_free(pointer); }

static inline long pintle_bio_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

// Stacks

static inline STACK_OF(X509) *pintle_x509_stack_new(void) { return sk_X509_new_null(); }
static inline int pintle_x509_stack_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *pintle_x509_stack_value(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline int pintle_x509_stack_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
static inline void pintle_x509_stack_free_all(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline int pintle_x509_name_stack_count(const STACK_OF(X509_NAME) *stack) { return sk_X509_NAME_num(stack); }
static inline const X509_NAME *pintle_x509_name_stack_value(const STACK_OF(X509_NAME) *stack, int index) {
    return sk_X509_NAME_value(stack, index);
}

static inline GENERAL_NAMES *pintle_x509_alternative_names(const X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}
static inline int pintle_general_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline const GENERAL_NAME *pintle_general_names_value(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}
static inline int pintle_general_name_is_dns(const GENERAL_NAME *name) { return name->type == GEN_DNS; }
static inline int pintle_general_name_is_ip(const GENERAL_NAME *name) { return name->type == GEN_IPADD; }
static inline const ASN1_STRING *pintle_general_name_string(const GENERAL_NAME *name) {
    return (const ASN1_STRING *)GENERAL_NAME_get0_value(name, NULL);
}

// Stores. The attribute is Oracle's trustedKeyUsage with anyExtendedKeyUsage.

static inline void pintle_pkcs12_bags_free(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}
static inline void pintle_pkcs12_safes_free(STACK_OF(PKCS7) *safes) { sk_PKCS7_pop_free(safes, PKCS7_free); }
static inline int pintle_pkcs12_add_trusted(STACK_OF(PKCS12_SAFEBAG) **bags, X509 *certificate, const char *name) {
    PKCS12_SAFEBAG *bag = PKCS12_add_cert(bags, certificate);
    if (bag == NULL || PKCS12_add_friendlyname_utf8(bag, name, -1) != 1) return 0;
    ASN1_OBJECT *usage = OBJ_txt2obj("2.16.840.1.113894.746875.1.1", 1);
    ASN1_OBJECT *any = OBJ_nid2obj(NID_anyExtendedKeyUsage);
    X509_ATTRIBUTE *attribute = X509_ATTRIBUTE_create_by_OBJ(NULL, usage, V_ASN1_OBJECT, any, -1);
    ASN1_OBJECT_free(usage);
    STACK_OF(X509_ATTRIBUTE) *attributes = (STACK_OF(X509_ATTRIBUTE) *)PKCS12_SAFEBAG_get0_attrs(bag);
    if (attribute != NULL && attributes != NULL && sk_X509_ATTRIBUTE_push(attributes, attribute) > 0) return 1;
    X509_ATTRIBUTE_free(attribute);
    return 0;
}
static inline int pintle_pkcs12_is_trusted(const PKCS12_SAFEBAG *bag) {
    if (PKCS12_SAFEBAG_get_nid(bag) != NID_certBag || PKCS12_SAFEBAG_get_bag_nid(bag) != NID_x509Certificate) return 0;
    ASN1_OBJECT *usage = OBJ_txt2obj("2.16.840.1.113894.746875.1.1", 1);
    int is_trusted = X509at_get_attr_by_OBJ(PKCS12_SAFEBAG_get0_attrs(bag), usage, -1) >= 0;
    ASN1_OBJECT_free(usage);
    return is_trusted;
}
static inline int pintle_pkcs12_bags_count(const STACK_OF(PKCS12_SAFEBAG) *bags) {
    return sk_PKCS12_SAFEBAG_num(bags);
}
static inline PKCS12_SAFEBAG *pintle_pkcs12_bags_value(const STACK_OF(PKCS12_SAFEBAG) *bags, int index) {
    return sk_PKCS12_SAFEBAG_value(bags, index);
}
static inline int pintle_pkcs12_safes_count(const STACK_OF(PKCS7) *safes) { return sk_PKCS7_num(safes); }
static inline PKCS7 *pintle_pkcs12_safes_value(const STACK_OF(PKCS7) *safes, int index) {
    return sk_PKCS7_value(safes, index);
}
static inline int pintle_pkcs12_safe_is_clear(PKCS7 *safe) { return PKCS7_type_is_data(safe); }
static inline int pintle_pkcs12_safe_is_encrypted(PKCS7 *safe) { return PKCS7_type_is_encrypted(safe); }
static inline int pintle_pkcs12_add_safe(STACK_OF(PKCS7) **safes, STACK_OF(PKCS12_SAFEBAG) *bags) {
    return PKCS12_add_safe(safes, bags, -1, 0, NULL);
}

// Flags that are macros of macros

static inline unsigned long pintle_name_flags(void) { return XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB; }
static inline uint64_t pintle_ssl_op_no_renegotiation(void) { return SSL_OP_NO_RENEGOTIATION; }

// SSL_CTX

static inline int pintle_ssl_ctx_ex_new_index(CRYPTO_EX_free *release) {
    return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, release);
}
static inline int pintle_ssl_session_ex_new_index(void) {
    return SSL_SESSION_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

static inline int pintle_ssl_ctx_set_oldest_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}
static inline int pintle_ssl_ctx_set_newest_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_max_proto_version(context, version);
}
static inline void pintle_ssl_ctx_limit_certificates(SSL_CTX *context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}
static inline int pintle_ssl_ctx_newest_version(SSL_CTX *context) {
    return (int)SSL_CTX_get_max_proto_version(context);
}
// The cipher suites of a context, the best first; those of TLS 1.3 are in front.
static inline int pintle_ssl_ctx_cipher_count(const SSL_CTX *context) {
    return sk_SSL_CIPHER_num(SSL_CTX_get_ciphers(context));
}
static inline const SSL_CIPHER *pintle_ssl_ctx_cipher(const SSL_CTX *context, int index) {
    return sk_SSL_CIPHER_value(SSL_CTX_get_ciphers(context), index);
}
static inline int pintle_ssl_ctx_set_signature_algorithms(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_sigalgs_list(context, list);
}

// Servers. A connection that ends without a word is one that has ended: HTTP says itself where its messages end, and what is
// in a tunnel has its own way to know. Without the first option an answer could not be written any more.
static inline uint64_t pintle_ssl_server_options(void) {
    return SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION;
}
// Writing goes on with what is left of a buffer, wherever it has moved to; a connection that is idle holds no buffers.
static inline void pintle_ssl_ctx_prepare_server(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

// A client's connection never goes back to what it was before its handshake, and holds no buffers while it is idle. Sessions
// are taken from connections, not kept by the context.
static inline void pintle_ssl_ctx_prepare_client(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

// The callback's type has no parameters in OpenSSL's macro; it gets the SSL, the alert to send and an argument.
static inline void pintle_ssl_ctx_ask_server_name(SSL_CTX *context, int (*asked)(SSL *, int *, void *)) {
    SSL_CTX_set_tlsext_servername_callback(context, asked);
}

// SSL

static inline int pintle_ssl_set_app_data(SSL *ssl, void *data) { return SSL_set_app_data(ssl, data); }
static inline void *pintle_ssl_app_data(const SSL *ssl) { return SSL_get_app_data(ssl); }
static inline void pintle_bio_set_ssl(BIO *bio, SSL *ssl) { BIO_set_ssl(bio, ssl, BIO_NOCLOSE); }
static inline long pintle_ssl_set_server_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name);
}
static inline int pintle_ssl_negotiated_group(SSL *ssl) { return (int)SSL_get_negotiated_group(ssl); }
// More is to come where there is nothing now: without it an empty buffer would be the end of the stream.
static inline void pintle_bio_mem_is_endless(BIO *bio) { BIO_set_mem_eof_return(bio, -1); }
static inline int pintle_alert_reason_offset(void) { return SSL_AD_REASON_OFFSET; }


// Stapled statuses. The callback's type has no parameters in OpenSSL's macro; it gets the SSL and the argument.

static inline void pintle_ssl_ctx_request_status(SSL_CTX *context, int (*answered)(SSL *, void *)) {
    SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp);
    SSL_CTX_set_tlsext_status_cb(context, answered);
}
static inline long pintle_ssl_stapled_status(SSL *ssl, const unsigned char **bytes) {
    return SSL_get_tlsext_status_ocsp_resp(ssl, bytes);
}

// Keys, and handshakes of the tests

static inline void pintle_ssl_ctx_answer_status(SSL_CTX *context, int (*asked)(SSL *, void *)) {
    SSL_CTX_set_tlsext_status_cb(context, asked);
}
static inline long pintle_ssl_staple(SSL *ssl, const unsigned char *bytes, long count) {
    return SSL_set_tlsext_status_ocsp_resp(ssl, OPENSSL_memdup(bytes, count), count);
}

static inline EVP_PKEY *pintle_pkey_new_ec(const char *curve) { return EVP_EC_gen(curve); }

// Makes a key on P-256 in the form that OpenSSL had before 3.0. Such a one is put into a certificate as it is; for any other,
// OpenSSL 3.0 looks through all its encoders and decoders, which takes longer than to make the key and to sign.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline EVP_PKEY *pintle_pkey_new_p256(void) {
    EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    EVP_PKEY *made = EVP_PKEY_new();
    if (key != NULL && made != NULL && EC_KEY_generate_key(key) == 1 && EVP_PKEY_assign_EC_KEY(made, key) == 1)
        return made;
    EC_KEY_free(key);
    EVP_PKEY_free(made);
    return NULL;
}
#pragma GCC diagnostic pop

static inline EVP_PKEY *pintle_pkey_new_rsa(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline EVP_PKEY *pintle_pkey_new_ed25519(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }

// Copies a SubjectPublicKeyInfo whether its key can be decoded or not.
static inline int pintle_x509_pubkey_copy(X509_PUBKEY *to, X509_PUBKEY *from) {
    ASN1_OBJECT *algorithm;
    const unsigned char *key;
    int length;
    X509_ALGOR *identifier;
    const void *parameters;
    int type;
    if (X509_PUBKEY_get0_param(&algorithm, &key, &length, &identifier, from) != 1) return 0;
    X509_ALGOR_get0(NULL, &type, &parameters, identifier);
    void *copied = NULL;
    if (type == V_ASN1_OBJECT) copied = OBJ_dup((const ASN1_OBJECT *)parameters);
    if (type == V_ASN1_SEQUENCE) copied = ASN1_STRING_dup((const ASN1_STRING *)parameters);
    return X509_PUBKEY_set0_param(to, OBJ_dup(algorithm), type, copied,
                                  (unsigned char *)OPENSSL_memdup(key, length), length);
}

static inline void pintle_x509v3_set_context(X509V3_CTX *context, X509 *issuer, X509 *subject) {
    X509V3_set_ctx(context, issuer, subject, NULL, NULL, 0);
}
static inline int pintle_ssl_ctx_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add0_chain_cert(context, certificate);
}

#endif
