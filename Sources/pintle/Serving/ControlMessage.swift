// SPDX-License-Identifier: Apache-2.0

/// A command's request to a running proxy: one line of JSON over its control socket.
struct ControlRequest: Codable, Sendable {
    enum Command: String, Codable, Sendable { case reload, purge, status }

    /// The cached responses to remove.
    enum Purge: Codable, Sendable, Equatable {
        case url(String)
        case prefix(String)
        case tag(String)
        case all
    }

    var command: Command
    /// True if the configuration takes effect even if it would break hosts that work.
    var force = false
    /// True if hosts are asked for their current chains, in addition to those seen last.
    var live = false
    /// The responses to remove; only for `purge`.
    var purge: Purge?
}

/// The proxy's answer, which is one line of JSON too.
struct ControlAnswer: Codable, Sendable {
    /// The exit code of the command.
    var code: Int32
    /// The lines for people.
    var lines: [String]
}
