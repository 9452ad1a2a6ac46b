// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A configuration for courses, and the facts about it that the model needs.
struct ModelConfiguration: Sendable {
    let yaml: String
    /// True if answers may come from other clients' requests.
    var shares = false
    /// True if redirects are followed.
    var follows = false
    /// True if a client may get a placeholder or a problem in place of a good answer.
    var judges = false
    /// True if clients have to show a password.
    var hasPasswords = false
    /// The most tunnels at a time; nil for no bound that a course could meet.
    var mostTunnels: Int?

    /// True if answers are kept after they were given.
    var keeps: Bool { self.yaml.contains("cache: {policy") }
    /// True if answers are kept on the disk, too.
    var hasDisk: Bool { self.keeps && !self.yaml.contains("disk: off") }
    /// True if other threads have to do with requests.
    var waitsForOthers: Bool { self.hasPasswords || self.hasDisk }
    /// True if requests wait for equal ones.
    var joins: Bool { self.yaml.contains("coalesce: {") }
    /// True if requests wait for their turns at an origin.
    var queues: Bool { self.yaml.contains("max_active") }

    private static let limits = "limits: {held_bytes: 1MiB, body_buffer: 64KiB}\n"
    private static let paced =
        "{serialize: json, uri_methods: [PUT], parameters: {c: 3}, throttle: {packet: 5, delay: 60s}}"
    private static let placeholder =
        "on_violation: placeholder, placeholder: {file: gone.json, status: 203}, placeholder_after: 1h"

    static let all = [
        ModelConfiguration(yaml: ""),
        ModelConfiguration(yaml: limits + "routes: [{name: r, request: {throttle: {packet: 1000, delay: 60s}}}]"),
        ModelConfiguration(
            yaml: limits
                + "routes: [{name: r, match: {hosts: [a.test]}, redirects: follow}, {name: s, request: \(paced)}]",
            follows: true),
        ModelConfiguration(
            yaml: "limits: {held_bytes: 1MiB, body_buffer: 4KiB}\n"
                + "routes: [{name: r, match: {hosts: [a.test]}, redirects: follow}, {name: s, request: \(paced)}]",
            follows: true),
        ModelConfiguration(yaml: limits + "routes: [{name: r, redirects: follow}]", follows: true),
        ModelConfiguration(
            yaml: "limits: {tunnels: 1}\nroutes: [{name: r, redirects: follow}]", follows: true, mostTunnels: 1),
        ModelConfiguration(yaml: limits + "routes: [{name: r, response: {body: json}}]", judges: true),
        ModelConfiguration(
            yaml: limits + "routes: [{name: r, redirects: follow, response: {body: json, on_violation: report}}]",
            follows: true, judges: true),
        ModelConfiguration(
            yaml: limits + "routes: [{name: r, response: {body: json, \(placeholder)}}]", judges: true),
        ModelConfiguration(
            yaml: limits
                + "routes: [{name: r, match: {hosts: [a.test]}}, {name: s, request: {serialize: json, parameters: {b: 2}}}]"
        ),
        ModelConfiguration(yaml: "cache: {disk: off}\nroutes: [{name: r, cache: {policy: protocol}}]", shares: true),
        ModelConfiguration(
            yaml: "cache: {disk: off}\nroutes: [{name: r, cache: {policy: protocol}, coalesce: {}}]", shares: true),
        ModelConfiguration(yaml: "routes: [{name: r, cache: {policy: protocol}}]", shares: true),
        ModelConfiguration(
            yaml: "clients: {basic_auth: {users: users}}\n"
                + "cache: {disk: off}\nroutes: [{name: r, cache: {policy: protocol}, coalesce: {}}]",
            shares: true, hasPasswords: true),
        ModelConfiguration(yaml: "cache: {disk: off}\nroutes: [{name: r, coalesce: {max_active: 1}}]", shares: true),
        ModelConfiguration(
            yaml: "cache: {disk: off}\n" + limits
                + "routes: [{name: r, redirects: follow, cache: {policy: protocol}, coalesce: {max_active: 2}, response: {body: json, \(placeholder)}}]",
            shares: true, follows: true, judges: true),
    ]
}

/// The content of bodies: text that depends only on its name and offset, so that any part of it can be recognised.
enum ModelContent {
    static let versions = 12
    private static let sizes = [0, 2, 10, 300, 5000, 70_000]

    /// Answers: JSON texts, of which the last three are malformed.
    static let answers: [[UInt8]] = (0..<versions).map { version in
        var bytes = letters(of: version, count: sizes[version % sizes.count])
        if let last = bytes.indices.last {
            bytes[0] = UInt8(ascii: "\"")
            bytes[last] = version < 9 ? UInt8(ascii: "\"") : UInt8(ascii: "x")
        }
        return bytes
    }

    /// Some long texts of which forms are made; none is longer.
    private static let texts = (0..<13).map { letters(of: $0, count: 200_000) }

    /// The body of a request, a form.
    static func form(of token: Int, count: Int) -> [UInt8] {
        var bytes = Array(Self.texts[token % Self.texts.count].prefix(count))
        if count > 1 { (bytes[0], bytes[1]) = (UInt8(ascii: "a"), UInt8(ascii: "=")) }
        return bytes
    }

    /// True if bytes are those of a content from a place on.
    static func holds(_ content: [UInt8], at start: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > 0 else { return true }
        guard start + bytes.count <= content.count, let first = bytes.baseAddress else { return false }
        return content.withUnsafeBytes { memcmp($0.baseAddress.unsafelyUnwrapped + start, first, bytes.count) == 0 }
    }

    private static func letters(of name: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var letter = (name * 7) % 26
            for index in 0..<count {
                buffer[index] = UInt8(97 + letter)
                letter += 1 + (index & 1) * (name % 5)
                while letter >= 26 { letter -= 26 }
            }
            initialized = count
        }
    }
}
