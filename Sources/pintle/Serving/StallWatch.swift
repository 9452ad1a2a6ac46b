// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem

/// Logs turns of engine threads that hold up everybody on them.
///
/// On in debug builds, at 10 ms, and wherever `PINTLE_TURN_LIMIT` says so: a duration, or `off`.
enum StallWatch {
    /// The environment variable that sets the limit.
    static let variable = "PINTLE_TURN_LIMIT"

    /// The longest that a turn may take; nil where no turn is looked at.
    static func limit(in environment: [String: String]) throws(CommandFailure) -> Duration? {
        guard let text = environment[self.variable], !text.isEmpty else { return self.standard }
        guard text != "off" else { return nil }
        do throws(Malformed) {
            return try Spelling.duration(text, .milliseconds(1) ... .seconds(60))
        } catch {
            throw CommandFailure(.usage, "\(self.variable)=\(text): \(error.reason), or off")
        }
    }

    /// The guard for the engine's loops; nil where there is no limit.
    static func guardian(_ limit: Duration?, _ logger: Logger) -> TurnGuard? {
        limit.map { limit in TurnGuard(limit: limit) { logger.log($0, limit: limit) } }
    }

    private static var standard: Duration? {
        #if DEBUG
        .milliseconds(10)
        #else
        nil
        #endif
    }
}

extension Logger {
    fileprivate func log(_ turn: SlowTurn, limit: Duration) {
        let parts = turn.sums.map { kind, sum in
            let values: Logger.Metadata = [
                LogKeys.count: .stringConvertible(sum.count),
                LogKeys.processorTime: .stringConvertible(sum.time.roundedMilliseconds),
            ]
            return (kind.rawValue, Logger.Metadata.Value.dictionary(values))
        }
        let dearest = turn.dearest
        self.warning(
            LogKeys.slowTurn,
            metadata: [
                LogKeys.loop: .string(turn.loop),
                LogKeys.processorTime: .stringConvertible(turn.time.roundedMilliseconds),
                LogKeys.limit: .stringConvertible(limit.roundedMilliseconds),
                LogKeys.doing: .string(
                    dearest.name.isEmpty ? dearest.kind.rawValue : "\(dearest.kind.rawValue) \(dearest.name)"),
                LogKeys.doingTime: .stringConvertible(dearest.time.roundedMilliseconds),
                LogKeys.parts: .dictionary(Logger.Metadata(uniqueKeysWithValues: parts)),
            ])
    }

    /// Logs how long the turns of the engine's threads took.
    func log(turns: TurnTimes) {
        var metadata: Logger.Metadata = [
            LogKeys.turns: .stringConvertible(turns.turns),
            LogKeys.longTurns: .stringConvertible(turns.turns(over: 10_000_000)),
            LogKeys.longestTurn: .stringConvertible(Int((turns.longest + 500_000) / 1_000_000)),
        ]
        if turns.slow > 0 { metadata[LogKeys.slowTurns] = .stringConvertible(turns.slow) }
        self.info(LogKeys.loopTurns, metadata: metadata)
    }
}
