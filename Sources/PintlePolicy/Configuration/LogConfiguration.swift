// SPDX-License-Identifier: Apache-2.0

/// The log of exchanges.
package struct LogConfiguration: Sendable, Equatable {
    /// The least severe level that is written.
    package enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// The form of log lines.
    package enum Format: String, Sendable, CaseIterable {
        case text, json
    }

    /// The destination of the lines about exchanges, one line for each.
    package enum Exchanges: Sendable, Equatable {
        /// Standard output, written `"-"`.
        case standardOutput
        /// A file, to which lines are appended.
        case file(String)
        case off
    }

    /// The least severe level that is written. Default `info`: one line per exchange, and events that an operator must know.
    package var level: Level = .info
    /// The form of log lines. Default `text`.
    package var format: Format = .text
    /// The destination of the lines about exchanges. Default standard output: data goes there, everything else to standard
    /// error.
    package var exchanges: Exchanges = .standardOutput
    /// True if query values, credentials and injected headers are left out. Default on.
    package var redact = true

    package init() {}
}
