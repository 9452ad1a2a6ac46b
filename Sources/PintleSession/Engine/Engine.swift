// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import CPintleLinux
internal import Glibc
internal import NIOCore
package import PintleLoop
internal import PintleSystem

/// The threads on which sessions run their transfers: one loop on each.
public final class Engine: Sendable {
    /// The loops, in order; a session has one pool of connections on each.
    package let loops: [Loop]
    /// Looks up names for all sessions.
    let names = NameLookups()

    /// Starts `threads` loops (1…64).
    ///
    /// - Throws: ``SessionError`` with `internalError` if the system has no thread or descriptor left.
    public convenience init(threads: Int) throws(SessionError) {
        try self.init(threads: threads, turnGuard: nil)
    }

    /// Starts `threads` loops (1…64) whose guard is notified of turns that hold a loop up.
    ///
    /// - Throws: as ``init(threads:)``.
    package init(threads: Int, turnGuard: LoopStallDetector?) throws(SessionError) {
        precondition((1...64).contains(threads), "an engine has 1 to 64 threads")
        guard Self.startLibcurl else { throw SessionError(.internalError, "libcurl cannot be initialised") }
        // With another TLS library the policy's callback would never be called, and every server would be trusted.
        guard Self.usesOpenSSL else {
            throw SessionError(
                .internalError,
                "this libcurl is not built on OpenSSL; install the OpenSSL flavour of libcurl (libcurl4)")
        }
        do {
            self.loops = try (0..<threads).map { try Loop(name: "pintle-\($0)", index: $0, turnGuard: turnGuard) }
        } catch {
            throw SessionError(
                .internalError, "an engine thread cannot be started",
                cause: (error as? IOError).map { SystemError($0.errnoCode).description }
                    ?? "the system has no thread left")
        }
    }

    /// The engine of sessions that are made without one: a thread for each processor. It starts with the first such
    /// session and runs until the process ends.
    package static let shared = Result<Engine, SessionError> { () throws(SessionError) in
        try Engine(threads: Engine.availableProcessors)
    }

    deinit {
        for loop in self.loops { loop.end() }
    }

    /// Ends the threads and waits for them; blocks the caller's thread. Close the sessions first. An engine that is
    /// released ends its threads itself, after its last session is released.
    public func stop() {
        for loop in self.loops { loop.stop() }
    }

    /// Ends the threads as ``stop()`` does, without blocking one of the few threads that Swift's tasks share.
    package func stopped() async {
        await ThreadPool.shared.result { self.stop() }
    }

    /// The times of the turns of all loops so far.
    package var turnTimes: TurnTimes { self.loops.reduce(into: TurnTimes()) { $0 += $1.turnTimes } }

    /// The number of processors that this process may use (1…64): by its affinity and its container's quota.
    public static var availableProcessors: Int {
        // NIO considers the quota, but not the affinity: of processors it knows only the number.
        max(1, min(64, System.coreCount, Int(pintle_processors_allowed())))
    }

    /// The libcurl and TLS library in use, such as `libcurl/7.88.1 OpenSSL/3.0.19`.
    public static var libraryVersions: String {
        String(cString: curl_version()).split(separator: " ").prefix(2).joined(separator: " ")
    }

    private static var usesOpenSSL: Bool {
        pintle_curl_tls_library().map { String(cString: $0).hasPrefix("OpenSSL/") } ?? false
    }

    /// Initialises libcurl, once per process and before any handle. Writing to a broken pipe is then an error code, not
    /// a signal.
    private static let startLibcurl: Bool = {
        signal(SIGPIPE, SIG_IGN)
        return pintle_curl_start() == CURLE_OK
    }()
}
