// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logging
internal import PintleSystem

/// The log of exchanges: one line for each record.
///
/// Safe on every thread, and never blocks its caller. The caller's thread encodes records; a thread of the log writes them,
/// and up to 4 MiB may wait for it. Call ``flush(within:)`` before the process ends.
package final class ExchangeLog: Sendable {
    /// The place to which lines are written.
    package enum Destination: Hashable, Sendable {
        /// Lines are not written at all.
        case off
        /// Standard output, because exchange lines are data, unlike the log of the proxy itself.
        case standardOutput
        /// A file, which is created with mode 0640 and appended to.
        case file(String)

        /// Reads the configuration's `log.exchanges`: `-`, `off` or a path.
        package init(configuration: String) {
            switch configuration {
            case "off": self = .off
            case "-": self = .standardOutput
            default: self = .file(configuration)
            }
        }
    }

    /// False if records are not written, so that the caller need not create them.
    package let isEnabled: Bool

    private let destination: Destination
    private let encoder: ExchangeEncoder
    private let writer: LogWriter?

    /// Opens the log.
    ///
    /// - Parameters:
    ///   - style: the look of lines that go to a terminal, in place of text; nil for text there, too.
    ///   - logger: notified of the first line that cannot be written, and of the first that must be dropped.
    /// - Throws: an error if the file cannot be opened.
    package init(
        _ destination: Destination, format: LogFormat, onTerminals style: TerminalStyle? = nil, redaction: Redaction,
        logger: Logger
    ) throws(LogFileError) {
        self.destination = destination
        let output: LineOutput? =
            switch destination {
            case .off: nil
            case .standardOutput: LineOutput(borrowing: STDOUT_FILENO)
            case .file(let path): try LineOutput(appendingTo: path)
            }
        if let style, format == .text, output?.isTerminal == true {
            self.encoder = ExchangeEncoder(for: style, redaction: redaction)
        } else {
            self.encoder = ExchangeEncoder(format: format, redaction: redaction)
        }
        self.writer = output.map { LogWriter($0) { loss in Self.tell(logger, of: loss, in: destination) } }
        self.isEnabled = self.writer != nil
    }

    /// The number of records that could not be written.
    package var failures: Int { self.writer?.failures ?? 0 }
    /// The number of records that were dropped because too many waited to be written.
    package var dropped: Int { self.writer?.dropped ?? 0 }

    /// Writes one record.
    package func write(_ record: ExchangeRecord) {
        guard let writer else { return }
        var bytes: [UInt8] = []
        // A line with all fields is rarely longer.
        bytes.reserveCapacity(1024)
        self.encoder.encode(record, into: &bytes)
        writer.write(bytes)
    }

    /// Writes several records at once.
    package func write(_ records: [ExchangeRecord]) {
        guard let writer, !records.isEmpty else { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1024 * records.count)
        for record in records { self.encoder.encode(record, into: &bytes) }
        writer.write(bytes)
    }

    /// Opens the file again by its path, after log rotation. Does nothing for other destinations.
    ///
    /// Records that were written before go to the old file; only ``flush(within:)`` ensures that they are there.
    ///
    /// - Throws: an error if the file cannot be opened; the old one stays in use.
    package func reopen() throws(LogFileError) {
        guard case .file(let path) = self.destination, let writer else { return }
        writer.replace(with: try LineOutput.open(path))
    }

    /// Waits, blocking the thread, until every record given so far is written.
    ///
    /// - Returns: true if they were written within `limit`; a pipe without a reader could block for ever.
    @discardableResult
    package func flush(within limit: Duration) -> Bool { self.writer?.flush(within: limit) ?? true }

    /// Logs a loss. Called once for each kind: with a full disk, every exchange would otherwise log another line.
    private static func tell(_ logger: Logger, of loss: LogWriter.Loss, in destination: Destination) {
        let reason =
            switch loss {
            case .failed(let code): "\(SystemError(code))"
            case .dropped(let capacity): "over \(capacity >> 20) MiB wait to be written; lines are dropped and counted"
            }
        logger.log(.error, .exchangeLogFailed(path: destination.name, reason: reason))
    }
}

extension ExchangeLog.Destination {
    fileprivate var name: String {
        switch self {
        case .off: "off"
        case .standardOutput: "-"
        case .file(let path): path
        }
    }
}
