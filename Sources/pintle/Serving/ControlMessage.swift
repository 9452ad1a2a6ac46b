// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

/// A command's request to a running proxy: one line of JSON over its control socket.
struct ControlRequest: Codable, Sendable {
    enum Command: String, Codable, Sendable { case reload, purge, status, tail, wait, counters, explain }

    /// The cached responses to remove.
    enum Purge: Codable, Sendable, Equatable {
        case url(String)
        case prefix(String)
        case tag(String)
        case all
    }

    /// The exchanges to follow.
    struct Tail: Codable, Sendable {
        enum Format: String, Codable, Sendable, CaseIterable { case text, json }

        /// A filter (docs/filters.md).
        var filter: String
        /// Nil for the format of the proxy's exchange log.
        var format: Format?
        /// The look of short lines for a terminal, in place of a format; nil for lines of the log.
        var style: TerminalStyle?
    }

    /// The quiet to wait for.
    struct Wait: Codable, Sendable {
        var idle: Duration
        /// Nil if there is no limit.
        var timeout: Duration?
    }

    var command: Command
    /// True if the configuration takes effect even if it would break hosts that work.
    var force = false
    /// True if hosts are asked for their current chains, in addition to those seen last.
    var live = false
    /// The responses to remove; only for `purge`.
    var purge: Purge?
    /// Only for `tail`.
    var tail: Tail?
    /// Only for `wait`.
    var wait: Wait?
    /// The id of the exchange; only for `explain`.
    var exchange: String?
}

/// The proxy's answer, which is one line of JSON too. For `tail`, lines of ``TailMessage`` follow until one side ends.
struct ControlAnswer: Codable, Sendable {
    /// The exit code of the command.
    var code: Int32
    /// The lines for people.
    var lines: [String] = []
    /// Only for `counters`.
    var counters: CounterReading?
    /// Only for `explain`; `lines` has it for people.
    var exchange: Exchange?

    /// An exchange that the proxy keeps.
    struct Exchange: Codable, Sendable {
        /// The document of `/api/exchanges/ID`.
        var json: String
        /// True if the policy let it pass.
        var hasPassed: Bool
    }
}

/// Some exchanges for a follower, as one line of JSON.
struct TailMessage: Codable, Sendable {
    /// Lines of the exchange log.
    var lines: [String]
    /// The number of exchanges that are missing before these, because they came faster than they were read.
    var lost: Int
}
