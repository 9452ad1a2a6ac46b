// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import CPintleLinux
internal import Glibc
internal import NIOCore
package import PintleLoop
internal import PintleSystem

/// The threads on which sessions run their transfers: a loop each.
public final class Engine: Sendable {
    /// The loops, in order; a session has one pool of connections on each.
    package let loops: [Loop]
    /// Looks names up for all sessions.
    let names = NameLookups()

    /// Starts `threads` loops (1…64).
    ///
    /// - Throws: ``SessionError`` with `internalError` when the system has no thread or descriptor left.
    public convenience init(threads: Int) throws(SessionError) {
        try self.init(threads: threads, turnGuard: nil)
    }

    /// Starts `threads` loops (1…64), and has the guard told of turns that hold one up.
    ///
    /// - Throws: as ``init(threads:)``.
    package init(threads: Int, turnGuard: TurnGuard?) throws(SessionError) {
        precondition((1...64).contains(threads), "an engine has 1 to 64 threads")
        guard Self.startLibcurl else { throw SessionError(.internalError, "libcurl cannot be initialised") }
        // With another TLS library the policy's callback would never be called, and everything be trusted.
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

    /// The engine of sessions that are made without one: a thread for each processor, started with the first such
    /// session, and there until the process ends.
    package static let shared = Result<Engine, SessionError> { () throws(SessionError) in
        try Engine(threads: Engine.availableProcessors)
    }

    deinit {
        for loop in self.loops { loop.end() }
    }

    /// Ends the threads and waits for them, blocking the caller's. Close the sessions first. An engine that is let go
    /// ends its threads by itself, when the last of its sessions has gone.
    public func stop() {
        for loop in self.loops { loop.stop() }
    }

    /// Ends the threads as ``stop()`` does, and holds none of the few threads that Swift's tasks share meanwhile.
    package func stopped() async {
        await ThreadPool.shared.result { self.stop() }
    }

    /// The turns of all loops so far.
    package var turnTimes: TurnTimes { self.loops.reduce(into: TurnTimes()) { $0 += $1.turnTimes } }

    /// The number of processors that this process may use (1…64): by its affinity and its container's quota.
    public static var availableProcessors: Int {
        // NIO knows the quota, and of the processors only how many there are.
        max(1, min(64, System.coreCount, Int(pintle_processors_allowed())))
    }

    /// The libcurl and TLS library in use, such as `libcurl/7.88.1 OpenSSL/3.0.19`.
    public static var libraryVersions: String {
        String(cString: curl_version()).split(separator: " ").prefix(2).joined(separator: " ")
    }

    private static var usesOpenSSL: Bool {
        pintle_curl_tls_library().map { String(cString: $0).hasPrefix("OpenSSL/") } ?? false
    }

    /// Once per process, before any handle; a broken pipe is an error code here, never a signal.
    private static let startLibcurl: Bool = {
        signal(SIGPIPE, SIG_IGN)
        return pintle_curl_start() == CURLE_OK
    }()
}
