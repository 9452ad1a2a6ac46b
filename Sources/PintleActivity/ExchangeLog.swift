// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logging
internal import PintleSystem

/// Where exchange records go, one line each.
///
/// Safe on every thread, and waits for nobody: records are encoded on the caller's, and written by one of its own, before
/// which up to 4 MiB wait. Call ``flush(within:)`` before the process ends.
package final class ExchangeLog: Sendable {
    /// Where the lines go.
    package enum Destination: Hashable, Sendable {
        /// Nowhere.
        case off
        /// Standard output: exchange lines are data, unlike what is logged about the proxy itself.
        case standardOutput
        /// A file, appended to and created with mode 0640.
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

    /// Whether it is worth making a record at all.
    package let isEnabled: Bool

    private let destination: Destination
    private let encoder: ExchangeEncoder
    private let writer: LogWriter?
    /// Takes records instead of a writer.
    private let take: (@Sendable (ExchangeRecord) -> Void)?

    /// Gives records to the process itself instead of writing lines; ``reopen()`` and ``flush(within:)`` have nothing to do.
    ///
    /// - Parameter take: told the plain truth, secrets and all, on the thread that the exchange ended on: it must be quick.
    package init(givingTo take: @escaping @Sendable (ExchangeRecord) -> Void) {
        self.destination = .off
        self.encoder = ExchangeEncoder(format: .json, redaction: .on)
        self.writer = nil
        self.take = take
        self.isEnabled = true
    }

    /// Opens the log.
    ///
    /// - Parameter logger: told once when a line cannot be written, and once when one has to be dropped.
    /// - Throws: when the file cannot be opened.
    package init(
        _ destination: Destination, format: LogFormat, redaction: Redaction, logger: Logger
    ) throws(LogFileError) {
        self.destination = destination
        self.encoder = ExchangeEncoder(format: format, redaction: redaction)
        let output: LineOutput? =
            switch destination {
            case .off: nil
            case .standardOutput: LineOutput(borrowing: STDOUT_FILENO)
            case .file(let path): try LineOutput(appendingTo: path)
            }
        self.writer = output.map { LogWriter($0) { loss in Self.tell(logger, of: loss, in: destination) } }
        self.take = nil
        self.isEnabled = self.writer != nil
    }

    /// How many records could not be written.
    package var failures: Int { self.writer?.failures ?? 0 }
    /// How many records were dropped, because too many waited to be written.
    package var dropped: Int { self.writer?.dropped ?? 0 }

    /// Writes one record.
    package func write(_ record: ExchangeRecord) {
        if let take { return take(record) }
        guard let writer else { return }
        var bytes: [UInt8] = []
        // A line with everything in it rarely has more.
        bytes.reserveCapacity(1024)
        self.encoder.encode(record, into: &bytes)
        writer.write(bytes)
    }

    /// Writes several records at once.
    package func write(_ records: [ExchangeRecord]) {
        if let take { return records.forEach(take) }
        guard let writer, !records.isEmpty else { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1024 * records.count)
        for record in records { self.encoder.encode(record, into: &bytes) }
        writer.write(bytes)
    }

    /// Opens the file anew by its path, for after log rotation. Does nothing for other destinations.
    ///
    /// Records that were written before go into the old file, after ``flush(within:)`` for certain.
    ///
    /// - Throws: when the file cannot be opened; the old one stays in use.
    package func reopen() throws(LogFileError) {
        guard case .file(let path) = self.destination, let writer else { return }
        writer.replace(with: try LineOutput.open(path))
    }

    /// Waits, blocking the thread, until every record is written that was given so far.
    ///
    /// - Returns: whether that was so within `limit`; a log that nobody reads takes longer than anybody can wait.
    @discardableResult
    package func flush(within limit: Duration) -> Bool { self.writer?.flush(within: limit) ?? true }

    /// Once for each kind: a full disk would otherwise answer every exchange with another line.
    private static func tell(_ logger: Logger, of loss: LogWriter.Loss, in destination: Destination) {
        let reason =
            switch loss {
            case .failed(let code): "\(SystemError(code))"
            case .dropped(let capacity): "over \(capacity >> 20) MiB wait to be written; lines are dropped and counted"
            }
        logger.error(
            LogKeys.exchangeLogFailed,
            metadata: [LogKeys.path: "\(destination.name)", LogKeys.reason: "\(reason)"])
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
