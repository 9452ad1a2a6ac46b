// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem

/// Logs turns of engine threads that delay all connections of the thread.
///
/// Active in debug builds, with a limit of 10 ms. `PINTLE_TURN_LIMIT` overrides this with a duration, or with `off`.
enum StallWatch {
    /// The environment variable that sets the limit.
    static let variable = "PINTLE_TURN_LIMIT"

    /// Returns the maximum duration of a turn; nil if turns are not watched.
    private static func limit(in environment: [String: String]) throws(CommandFailure) -> Duration? {
        guard let text = environment[self.variable], !text.isEmpty else { return self.standard }
        guard text != "off" else { return nil }
        do throws(Malformed) {
            return try Spelling.duration(text, .milliseconds(1) ... .seconds(60))
        } catch {
            throw CommandFailure(.usage, "\(self.variable)=\(text): \(error.reason), or off")
        }
    }

    /// Returns the detector for the engine's loops; nil if turns are not watched.
    ///
    /// - Throws: an error if the environment has an invalid limit.
    static func detector(_ logger: Logger) throws(CommandFailure) -> LoopStallDetector? {
        try self.limit(in: Inherited.environment).map { limit in
            LoopStallDetector(limit: limit) { logger.log($0, limit: limit) }
        }
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
        let dearest = turn.dearest
        let doing = dearest.name.isEmpty ? dearest.kind.rawValue : "\(dearest.kind.rawValue) \(dearest.name)"
        let parts = turn.sums.map { kind, sum in
            (kind.rawValue, (count: sum.count, time: sum.time.roundedMilliseconds))
        }
        let report = ProxyEvent.TurnReport(
            loop: turn.loop, time: turn.time.roundedMilliseconds, limit: limit.roundedMilliseconds,
            doing: (name: doing, time: dearest.time.roundedMilliseconds),
            parts: Dictionary(uniqueKeysWithValues: parts))
        self.log(.warning, .slowTurn(report))
    }

    /// Logs the durations of the engine threads' turns.
    func log(turns: TurnTimes) {
        self.log(
            .info,
            .loopTurns(
                turns.turns, long: turns.turns(over: 10_000_000), longest: Int((turns.longest + 500_000) / 1_000_000),
                slow: turns.slow))
    }
}
