// SPDX-License-Identifier: Apache-2.0

import Glibc
public import Logging
internal import PintleSystem

/// Where exchange records go, one line each.
///
/// Safe on every thread: records are encoded on the caller's, only the write itself is serialised.
public final class ExchangeLog: Sendable {
    /// Where the lines go.
    public enum Destination: Hashable, Sendable {
        /// Nowhere.
        case off
        /// Standard output: exchange lines are data, unlike what is logged about the proxy itself.
        case standardOutput
        /// A file, appended to and created with mode 0640.
        case file(String)

        /// Reads the configuration's `log.exchanges`: `-`, `off` or a path.
        public init(configuration: String) {
            switch configuration {
            case "off": self = .off
            case "-": self = .standardOutput
            default: self = .file(configuration)
            }
        }
    }

    /// Whether it is worth making a record at all.
    public let isEnabled: Bool

    private let destination: Destination
    private let encoder: ExchangeEncoder
    private let output: LineOutput?
    private let logger: Logger

    /// Opens the log.
    ///
    /// - Parameter logger: told once when a line cannot be written.
    /// - Throws: when the file cannot be opened.
    public init(
        _ destination: Destination, format: LogFormat, redaction: Redaction, logger: Logger
    ) throws(LogFileError) {
        self.destination = destination
        self.encoder = ExchangeEncoder(format: format, redaction: redaction)
        self.logger = logger
        switch destination {
        case .off: self.output = nil
        case .standardOutput: self.output = LineOutput(borrowing: STDOUT_FILENO)
        case .file(let path): self.output = try LineOutput(appendingTo: path)
        }
        self.isEnabled = self.output != nil
    }

    /// How many writes have failed, their lines lost.
    public var failures: Int { self.output?.failures ?? 0 }

    /// Writes one record.
    public func write(_ record: ExchangeRecord) {
        guard let output else { return }
        var bytes: [UInt8] = []
        // A line with everything in it rarely has more.
        bytes.reserveCapacity(1024)
        self.encoder.encode(record, into: &bytes)
        self.write(bytes, to: output)
    }

    /// Writes several records at once.
    public func write(_ records: [ExchangeRecord]) {
        guard let output, !records.isEmpty else { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1024 * records.count)
        for record in records { self.encoder.encode(record, into: &bytes) }
        self.write(bytes, to: output)
    }

    /// Opens the file anew by its path, for after log rotation. Does nothing for other destinations.
    ///
    /// - Throws: when the file cannot be opened; the old one stays in use.
    public func reopen() throws(LogFileError) {
        guard case .file(let path) = self.destination else { return }
        try self.output?.reopen(path)
    }

    private func write(_ bytes: [UInt8], to output: LineOutput) {
        do throws(LineOutput.Failure) {
            try output.write(bytes)
        } catch {
            // Once: a full disk would otherwise answer every exchange with another line.
            guard error.count == 1 else { return }
            self.logger.error(
                LogKeys.exchangeLogFailed,
                metadata: [
                    LogKeys.path: "\(self.destination.name)",
                    LogKeys.reason: "\(SystemError(error.code))",
                ])
        }
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
