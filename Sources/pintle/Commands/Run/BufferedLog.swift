// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintleSystem

/// Keeps warnings and errors until the child has ended, so that they do not appear between its lines.
final class BufferedLog: Sendable {
    private struct State: Sendable {
        var lines: [String] = []
        var more = 0
    }

    private static let most = 50
    private let state = Locked(State())

    /// The logged lines, in their order.
    var lines: [String] {
        self.state.withLock { $0.lines + ($0.more > 0 ? ["and \($0.more) more messages"] : []) }
    }

    var logger: Logger { Logger(label: "pintle") { _ in KeptLogHandler(log: self) } }

    fileprivate func append(_ line: String) {
        self.state.withLock { state in
            if state.lines.count < Self.most { state.lines.append(line) } else { state.more += 1 }
        }
    }
}

private struct KeptLogHandler: LogHandler {
    let log: BufferedLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    init(log: BufferedLog) { self.log = log }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = self.metadata.merging(event.metadata ?? [:]) { $1 }
        let values = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        self.log.append("\(event.level.rawValue): \(event.message)\(values)")
    }
}
