// SPDX-License-Identifier: Apache-2.0
// The rules of a captured network, in the messages of nftables(8).
//
// Connections are translated when they leave, so that sockets of Pintle stand on ports of their own: the transparent proxy of the
// kernel would need no translation, but its connections hold the very ports that the command's own servers want to have.
#define _GNU_SOURCE
#include "messages.h"
#include "network.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netinet/in.h>
#include <string.h>

static const char TABLE[] = "pintle";
/// Chains: what leaves to other addresses is led to sockets, and what arrives at others than those is refused.
static const char LED[] = "led", ADMITTED[] = "admitted";

enum { DNS = 53 };
// Priorities of linux/netfilter_ipv4.h, which collides with <netinet/in.h>.
enum { TRANSLATION = -100, FILTER = 0 };

static const unsigned char own_v4[] = {PINTLE_OWN_V4}, own_v6[] = {PINTLE_OWN_V6};

typedef enum { V4 = NFPROTO_IPV4, V6 = NFPROTO_IPV6 } family;

// MARK: Messages

static void begin(pintle_messages *batch, uint16_t type, uint16_t flags) {
    struct nfgenmsg head = {.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0};
    pintle_begin_message(batch, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags | NLM_F_ACK, &head, sizeof head);
}

static void add_border(pintle_messages *batch, uint16_t type) {
    struct nfgenmsg head = {.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};
    pintle_begin_message(batch, type, 0, &head, sizeof head);
    pintle_end_message(batch);
}

static void add_table(pintle_messages *batch) {
    begin(batch, NFT_MSG_NEWTABLE, NLM_F_CREATE);
    pintle_add_text(batch, NFTA_TABLE_NAME, TABLE);
    pintle_end_message(batch);
}

static void add_chain(pintle_messages *batch, const char *name, const char *type, int hook, int priority) {
    begin(batch, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
    pintle_add_text(batch, NFTA_CHAIN_TABLE, TABLE);
    pintle_add_text(batch, NFTA_CHAIN_NAME, name);
    size_t nest = pintle_begin_nest(batch, NFTA_CHAIN_HOOK);
    pintle_add_number(batch, NFTA_HOOK_HOOKNUM, (uint32_t)hook);
    pintle_add_number(batch, NFTA_HOOK_PRIORITY, (uint32_t)priority);
    pintle_end_nest(batch, nest);
    pintle_add_text(batch, NFTA_CHAIN_TYPE, type);
    pintle_end_message(batch);
}

typedef struct {
    pintle_messages *batch;
    size_t expressions;
} rule;

static rule begin_rule(pintle_messages *batch, const char *chain) {
    begin(batch, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
    pintle_add_text(batch, NFTA_RULE_TABLE, TABLE);
    pintle_add_text(batch, NFTA_RULE_CHAIN, chain);
    return (rule){batch, pintle_begin_nest(batch, NFTA_RULE_EXPRESSIONS)};
}

static void end_rule(rule rule) {
    pintle_end_nest(rule.batch, rule.expressions);
    pintle_end_message(rule.batch);
}

// MARK: Expressions

typedef struct {
    size_t element, data;
} expression;

static expression begin_expression(rule rule, const char *name) {
    expression places = {.element = pintle_begin_nest(rule.batch, NFTA_LIST_ELEM)};
    pintle_add_text(rule.batch, NFTA_EXPR_NAME, name);
    places.data = pintle_begin_nest(rule.batch, NFTA_EXPR_DATA);
    return places;
}

static void end_expression(rule rule, expression places) {
    pintle_end_nest(rule.batch, places.data);
    pintle_end_nest(rule.batch, places.element);
}

static void add_value(rule rule, uint16_t attribute, const void *value, size_t size) {
    size_t nest = pintle_begin_nest(rule.batch, attribute);
    pintle_add_attribute(rule.batch, NFTA_DATA_VALUE, value, size);
    pintle_end_nest(rule.batch, nest);
}

/// Goes on if the first register has this value.
static void compare(rule rule, const void *value, size_t size) {
    expression places = begin_expression(rule, "cmp");
    pintle_add_number(rule.batch, NFTA_CMP_SREG, NFT_REG_1);
    pintle_add_number(rule.batch, NFTA_CMP_OP, NFT_CMP_EQ);
    add_value(rule, NFTA_CMP_DATA, value, size);
    end_expression(rule, places);
}

static void match_meta(rule rule, uint32_t key, const void *value, size_t size) {
    expression places = begin_expression(rule, "meta");
    pintle_add_number(rule.batch, NFTA_META_KEY, key);
    pintle_add_number(rule.batch, NFTA_META_DREG, NFT_REG_1);
    end_expression(rule, places);
    compare(rule, value, size);
}

static void match_family(rule rule, family family) {
    uint8_t value = (uint8_t)family;
    match_meta(rule, NFT_META_NFPROTO, &value, sizeof value);
}

static void match_protocol(rule rule, uint8_t protocol) {
    match_meta(rule, NFT_META_L4PROTO, &protocol, sizeof protocol);
}

static void match_payload(rule rule, uint32_t base, uint32_t offset, const void *value, size_t size) {
    expression places = begin_expression(rule, "payload");
    pintle_add_number(rule.batch, NFTA_PAYLOAD_DREG, NFT_REG_1);
    pintle_add_number(rule.batch, NFTA_PAYLOAD_BASE, base);
    pintle_add_number(rule.batch, NFTA_PAYLOAD_OFFSET, offset);
    pintle_add_number(rule.batch, NFTA_PAYLOAD_LEN, (uint32_t)size);
    end_expression(rule, places);
    compare(rule, value, size);
}

/// The destination begins with these bytes.
static void match_destination(rule rule, family family, const void *bytes, size_t size) {
    match_family(rule, family);
    match_payload(rule, NFT_PAYLOAD_NETWORK_HEADER, family == V6 ? 24 : 16, bytes, size);
}

static void match_port(rule rule, uint8_t protocol, uint16_t port) {
    uint16_t bytes = htons(port);
    match_protocol(rule, protocol);
    match_payload(rule, NFT_PAYLOAD_TRANSPORT_HEADER, 2, &bytes, sizeof bytes);
}

static void load(rule rule, uint32_t reg, const void *value, size_t size) {
    expression places = begin_expression(rule, "immediate");
    pintle_add_number(rule.batch, NFTA_IMMEDIATE_DREG, reg);
    add_value(rule, NFTA_IMMEDIATE_DATA, value, size);
    end_expression(rule, places);
}

static void accept_packet(rule rule) {
    expression places = begin_expression(rule, "immediate");
    pintle_add_number(rule.batch, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    size_t data = pintle_begin_nest(rule.batch, NFTA_IMMEDIATE_DATA);
    size_t verdict = pintle_begin_nest(rule.batch, NFTA_DATA_VERDICT);
    pintle_add_number(rule.batch, NFTA_VERDICT_CODE, NF_ACCEPT);
    pintle_end_nest(rule.batch, verdict);
    pintle_end_nest(rule.batch, data);
    end_expression(rule, places);
}

/// Leads a connection or datagram to a port: of the address that it goes to, or of our own. It keeps its destination in the
/// kernel's table (SO_ORIGINAL_DST), and answers come from there.
static void lead(rule rule, family family, uint16_t port, int is_to_own) {
    uint16_t bytes = htons(port);
    if (is_to_own && family == V6) load(rule, NFT_REG_1, own_v6, sizeof own_v6);
    if (is_to_own && family == V4) load(rule, NFT_REG_1, own_v4, sizeof own_v4);
    load(rule, NFT_REG_2, &bytes, sizeof bytes);
    expression places = begin_expression(rule, "nat");
    pintle_add_number(rule.batch, NFTA_NAT_TYPE, NFT_NAT_DNAT);
    pintle_add_number(rule.batch, NFTA_NAT_FAMILY, family);
    if (is_to_own) pintle_add_number(rule.batch, NFTA_NAT_REG_ADDR_MIN, NFT_REG_1);
    pintle_add_number(rule.batch, NFTA_NAT_REG_PROTO_MIN, NFT_REG_2);
    end_expression(rule, places);
}

// MARK: Rules

static void accept_destination(
    pintle_messages *batch, const char *chain, family family, const void *bytes, size_t size) {
    rule rule = begin_rule(batch, chain);
    match_destination(rule, family, bytes, size);
    accept_packet(rule);
    end_rule(rule);
}

/// Lets pass what goes to the command's own servers: on the loopback, and on the network's own addresses.
static void accept_own(pintle_messages *batch, const char *chain, int has_ipv6) {
    static const unsigned char net[] = {127};
    accept_destination(batch, chain, V4, net, sizeof net);
    accept_destination(batch, chain, V4, own_v4, sizeof own_v4);
    if (!has_ipv6) return;
    accept_destination(batch, chain, V6, &in6addr_loopback, sizeof in6addr_loopback);
    accept_destination(batch, chain, V6, own_v6, sizeof own_v6);
}

/// Leads questions for names to the resolver: those to an address, or without one those to any of the family.
static void lead_names(pintle_messages *batch, family family, const void *address, size_t size) {
    static const uint8_t protocols[] = {IPPROTO_UDP, IPPROTO_TCP};
    for (int index = 0; index < 2; index++) {
        rule rule = begin_rule(batch, LED);
        if (address)
            match_destination(rule, family, address, size);
        else
            match_family(rule, family);
        match_port(rule, protocols[index], DNS);
        lead(rule, family, PINTLE_RESOLVER_PORT, 1);
        end_rule(rule);
    }
}

static void add_leads(pintle_messages *batch, const pintle_child *child, int has_ipv6) {
    for (int index = 0; index < child->resolver_count; index++) {
        uint32_t address = htonl(child->resolvers[index]);
        lead_names(batch, V4, &address, sizeof address);
    }
    if (child->asks_v6_loopback && has_ipv6) lead_names(batch, V6, &in6addr_loopback, sizeof in6addr_loopback);
    accept_own(batch, LED, has_ipv6);
    for (int is_v6 = 0; is_v6 <= has_ipv6; is_v6++) {
        family family = is_v6 ? V6 : V4;
        lead_names(batch, family, NULL, 0);
        rule rule = begin_rule(batch, LED);
        match_family(rule, family);
        match_protocol(rule, IPPROTO_TCP);
        // The kernel changes a source port that leads to one place twice, and its process could not be found then. With the
        // address it is one place only for two ports of one address.
        lead(rule, family, PINTLE_CAPTURE_PORT, 0);
        end_rule(rule);
    }
}

/// Refuses everything that is not led to a socket and not for the command's own servers: it would reach them, since every address is
/// one of this network. It is refused on its arrival, for the sender is then told by ICMP at once; what may not leave is an
/// error of send(2) that programs do not expect.
static void add_refusals(pintle_messages *batch, int has_ipv6) {
    rule rule = begin_rule(batch, ADMITTED);
    match_port(rule, IPPROTO_TCP, PINTLE_CAPTURE_PORT);
    accept_packet(rule);
    end_rule(rule);
    accept_own(batch, ADMITTED, has_ipv6);
    uint8_t code = NFT_REJECT_ICMPX_PORT_UNREACH;
    rule = begin_rule(batch, ADMITTED);
    expression places = begin_expression(rule, "reject");
    pintle_add_number(batch, NFTA_REJECT_TYPE, NFT_REJECT_ICMPX_UNREACH);
    pintle_add_attribute(batch, NFTA_REJECT_ICMP_CODE, &code, sizeof code);
    end_expression(rule, places);
    end_rule(rule);
}

int pintle_set_rules(const pintle_child *child, int has_ipv6) {
    pintle_messages batch;
    pintle_clear_messages(&batch);
    add_border(&batch, NFNL_MSG_BATCH_BEGIN);
    add_table(&batch);
    add_chain(&batch, LED, "nat", NF_INET_LOCAL_OUT, TRANSLATION);
    add_chain(&batch, ADMITTED, "filter", NF_INET_LOCAL_IN, FILTER);
    add_leads(&batch, child, has_ipv6);
    add_refusals(&batch, has_ipv6);
    add_border(&batch, NFNL_MSG_BATCH_END);
    return pintle_send_messages(&batch, NETLINK_NETFILTER);
}
