// SPDX-License-Identifier: Apache-2.0

/// What is written about exchanges.
package struct LogConfiguration: Sendable, Equatable {
    /// The least severe level that is written.
    package enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// How lines are written.
    package enum Format: String, Sendable, CaseIterable {
        case text, json
    }

    /// Where the line of each exchange goes.
    package enum Exchanges: Sendable, Equatable {
        /// `"-"`.
        case standardOutput
        /// Appended to this file.
        case file(String)
        case off
    }

    /// Default `info`: one line per exchange, and what an operator must know.
    package var level: Level = .info
    /// Default `text`.
    package var format: Format = .text
    /// Default standard output: data goes there, everything else to standard error.
    package var exchanges: Exchanges = .standardOutput
    /// Whether query values, credentials and injected headers are left out. Default on.
    package var redact = true

    package init() {}
}
