// SPDX-License-Identifier: Apache-2.0

import Logging
import PintleActivity
import PintleSystem

/// Keeps all log messages.
final class CapturedLog: Sendable {
    private let kept = Locked<[LogEvent]>([])

    var events: [LogEvent] { self.kept.withLock { $0 } }

    /// The steps of the activity machine, as `from>to`.
    var steps: [String] {
        self.events.filter { $0.message.description == EventName.activityState.rawValue }.map { event in
            "\(event.metadata?[LogKeys.from] ?? "?")>\(event.metadata?[LogKeys.to] ?? "?")"
        }
    }

    /// The `started` of each report of the counters.
    var reports: [String] {
        self.events.filter { $0.message.description == EventName.activityCounters.rawValue }.map {
            "\($0.metadata?["started"] ?? "0")"
        }
    }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: CapturedLog
        var metadata: Logger.Metadata = [:]
        var metadataProvider: Logger.MetadataProvider?
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            self.log.kept.withLock { $0.append(event) }
        }
    }
}
