// SPDX-License-Identifier: Apache-2.0

/// What a command asks of a running proxy: one line of JSON over its control socket.
struct ControlRequest: Codable, Sendable {
    enum Command: String, Codable, Sendable { case reload, purge, status }

    /// The answers that are to go.
    enum Purge: Codable, Sendable, Equatable {
        case url(String)
        case prefix(String)
        case tag(String)
        case all
    }

    var command: Command
    /// Whether the configuration takes effect although it would break what works.
    var force = false
    /// Whether hosts are asked what they show now, beside the chains last seen.
    var live = false
    /// Given with `purge`.
    var purge: Purge?
}

/// What it answers, in one line, too.
struct ControlAnswer: Codable, Sendable {
    /// The exit code of the command.
    var code: Int32
    /// What people read.
    var lines: [String]
}
