// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleActivity
internal import PintleCacheStore
internal import PintleLoop
internal import PintlePins
internal import PintlePolicy
internal import PintleProxy
internal import PintleReachability
internal import PintleSession
internal import PintleSystem

/// The parts that are created in the same way by every command that serves clients.
enum ServerFactory {
    /// - Parameter guardian: notified of slow turns; nil if they are not watched.
    static func engine(
        _ configuration: Configuration, guardian: LoopStallDetector? = nil
    ) throws(CommandFailure) -> Engine {
        let threads: Int =
            switch configuration.engine.threads {
            case .auto: Engine.availableProcessors
            case .exactly(let count): count
            }
        do throws(SessionError) {
            return try Engine(threads: threads, turnGuard: guardian)
        } catch {
            throw CommandFailure(.incomplete, error.message)
        }
    }

    /// Warns of pins that never match, in the words of `pintle pins lint`.
    static func warnOfShadowedPins(_ policy: Policy, _ origin: ConfigurationOrigin, _ logger: Logger) {
        for finding in PinLint.shadowedPins(policy) {
            logger.warning("\(finding.line(file: origin.path ?? "embedded default"))")
        }
    }

    static func activity(
        _ configuration: Configuration, _ counters: Counters, _ engine: Engine, _ logger: Logger
    ) -> Activity {
        let loop = engine.loops[0]
        let scheduler = Scheduler { delay, work in
            let task = loop.scheduleTask(in: .nanoseconds(delay.wholeNanoseconds), work)
            return { task.cancel() }
        }
        return Activity(
            counters: counters, settings: ActivitySettings(configuration.activity), scheduler: scheduler,
            logger: logger)
    }

    /// Opens the cache folder on disk, if a route uses it. If this fails, responses are cached in memory only, and the log
    /// says why.
    static func openCache(_ active: ActiveConfiguration, _ logger: Logger) async {
        guard let answers = active.answers, active.keepsAnswers, active.cacheConfiguration.disk > 0 else { return }
        guard let folder = active.cacheConfiguration.folder ?? StateFolder.path.map({ $0 + "/cache" }) else {
            return logger.warning(
                "answers are kept in memory alone: neither XDG_STATE_HOME nor HOME says where else; set cache.path")
        }
        do throws(DiskCacheError) {
            try await answers.openDisk(folder, capacity: active.cacheConfiguration.disk) { event in
                logger.warning("\(event)")
            }
        } catch {
            logger.warning("answers are kept in memory alone: \(error)")
        }
    }

    /// Watches the system's reachability, and logs each change.
    static func reachability(_ engine: Engine, _ logger: Logger) -> Reachability {
        let reachability = Reachability(.system, engine: engine)
        let wasMissing = NIOLockedValueBox(false)
        reachability.onChange { status in
            // Operators are only told that there is a network if there was none before.
            let isMissing = status == .notReachable
            let isNews = wasMissing.withLockedValue { was in
                defer { was = isMissing }
                return was
            }
            logger.log(
                level: isMissing ? .warning : isNews ? .notice : .debug, LogKeys.reachabilityChanged,
                metadata: [LogKeys.reachability: "\(status.words)"])
        }
        do throws(SessionError) {
            try reachability.start()
        } catch {
            // Reachability explains failures, but is not needed to serve.
            logger.warning("\(error.message)", metadata: [LogKeys.reason: "\(error.cause ?? "")"])
        }
        return reachability
    }
}

extension ReachabilityStatus {
    /// The status for operators. AFNetworking's text says WiFi for every link that is not mobile, even for Ethernet.
    fileprivate var words: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "not reachable"
        case .reachableViaWWAN: "reachable over a mobile link"
        case .reachableViaWiFi: "reachable"
        }
    }
}
