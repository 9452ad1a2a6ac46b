// SPDX-License-Identifier: Apache-2.0

package import Logging

/// Writes log messages to standard error, one line each.
///
/// In text: time, level, message, then metadata as `key=value`, sorted, nested keys joined by dots. In JSON: an object with
/// `time`, `level`, `message` and the metadata beside them. No value can break out of its line. To use it for the whole
/// process:
///
/// ```swift
/// LoggingSystem.bootstrap { _ in LineLogHandler(format: .text, level: .info) }
/// ```
package struct LineLogHandler: LogHandler {
    /// Metadata that is added to every message.
    package var metadata: Logger.Metadata = [:]
    /// A provider that is asked at each message for more metadata.
    package var metadataProvider: Logger.MetadataProvider?
    /// The lowest level that is written: that of the process, unless this logger has one of its own.
    package var logLevel: Logger.Level {
        get { self.ownLevel ?? self.threshold.level }
        set { self.ownLevel = newValue }
    }

    private var ownLevel: Logger.Level?
    private let threshold: LogThreshold
    private let format: LogFormat
    /// The look of lines in text, if people read them at a terminal.
    private var style: TerminalStyle?
    private let output: Output
    private let now: @Sendable () -> Timestamp

    /// Creates a handler that writes to standard error, or to another descriptor. The descriptor must stay open as long as
    /// any copy of the handler is in use.
    ///
    /// - Parameters:
    ///   - format: the format of the lines.
    ///   - level: the lowest level that is written.
    ///   - descriptor: the descriptor to write to. Default 2, standard error.
    ///   - now: the clock.
    package init(
        format: LogFormat,
        level: Logger.Level,
        descriptor: Int32 = 2,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.format = format
        self.threshold = LogThreshold(level)
        self.output = .direct(LineOutput(borrowing: descriptor))
        self.now = now
    }

    /// Creates a handler whose lines are written by the thread of `writer`, so that logging never blocks. Call
    /// ``LogWriter/flush(within:)`` before the process ends.
    ///
    /// - Parameters:
    ///   - style: the look of lines in text, if they go to a terminal.
    ///   - threshold: the level of the process, which may change.
    package init(
        format: LogFormat, onTerminal style: TerminalStyle? = nil, threshold: LogThreshold, writer: LogWriter
    ) {
        self.format = format
        self.style = style
        self.threshold = threshold
        self.output = .queued(writer)
        self.now = { .now() }
    }

    private enum Output: Sendable {
        case direct(LineOutput)
        case queued(LogWriter)
    }

    /// One entry of the metadata that is added to every message.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    /// Writes one message. If it cannot be written or must be dropped, the error is ignored: there is no other place to
    /// report it.
    package func log(event: LogEvent) {
        var line = LineWriter(self.format, appendingTo: [])
        let level = event.level.rawValue
        switch self.format {
        case .text:
            if let style {
                line.bare(self.now().timeOfDay, event.level, message: event.message.description, style)
            } else {
                line.bare(self.now(), level: level, message: event.message.description)
            }
        case .json:
            line.field("time", self.now())
            line.field("level", level)
            line.field("message", event.message.description)
        }
        line.fields(self.merged(event))
        line.end()
        switch self.output {
        case .direct(let output): try? output.write(line.bytes[...])
        case .queued(let writer): writer.write(line.bytes)
        }
    }

    private func merged(_ event: LogEvent) -> Logger.Metadata {
        var all = self.metadata
        if let provided = self.metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let error = event.error { all[LogKeys.error] = .string("\(error)") }
        if let own = event.metadata { all.merge(own) { _, new in new } }
        return all
    }
}

extension LineWriter {
    fileprivate mutating func fields(_ metadata: Logger.Metadata) {
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { self.field(key, value) }
    }

    private mutating func field(_ key: String, _ value: Logger.Metadata.Value) {
        switch value {
        case .string(let text):
            self.field(key, text)
        case .stringConvertible(let convertible):
            switch convertible {
            case let number as Int: self.field(key, number)
            case let flag as Bool: self.field(key, flag)
            case let number as any BinaryInteger: self.field(key, number: "\(number)")
            case let number as Double where number.isFinite: self.field(key, number: "\(number)")
            default: self.field(key, convertible.description)
            }
        case .dictionary(let metadata):
            self.group(key) { $0.fields(metadata) }
        case .array(let values):
            self.field(key, values.map(\.description))
        }
    }
}

extension Logger.Level {
    /// Reads the configuration's `log.level`: swift-log's names, and `warn` for warning.
    package init?(configuration name: String) {
        self.init(rawValue: name == "warn" ? "warning" : name)
    }
}
