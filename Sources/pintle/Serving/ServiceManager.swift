// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The service manager that started this process, such as systemd or another one with sd_notify(3), if it wants
/// notifications. Each is one datagram.
struct ServiceManager: Sendable {
    /// The interval in which the manager expects a sign of life; nil for never.
    let watchdog: Duration?
    private let socket: Socket

    private final class Socket: Sendable {
        let descriptor: Int32
        /// The address: a `struct sockaddr_un`, cut to the length of its name.
        let address: [UInt8]

        init(_ descriptor: Int32, _ address: [UInt8]) { (self.descriptor, self.address) = (descriptor, address) }

        deinit { close(self.descriptor) }
    }

    /// The time for which a notification may wait for room in the manager's queue.
    private static let patience = timeval(tv_sec: 1, tv_usec: 0)

    /// Reads the variables about the manager, and removes them from the environment: they are meant for this process only.
    ///
    /// - Returns: nil if there is no manager that wants notifications.
    /// - Throws: an error if the environment has an invalid address.
    static func taken() throws(CommandFailure) -> ServiceManager? {
        let environment = Inherited.environment
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) }
        guard let path = environment["NOTIFY_SOCKET"], !path.isEmpty else { return nil }
        guard let address = Self.address(path) else {
            throw CommandFailure(
                .usage,
                "NOTIFY_SOCKET=\(path.prefix(200)): neither an absolute path nor @ and an abstract name, or too long")
        }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw CommandFailure(.incomplete, "NOTIFY_SOCKET: \(SystemError.last)")
        }
        var patience = Self.patience
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        return ServiceManager(watchdog: Self.watchdog(environment), socket: Socket(descriptor, address))
    }

    private static func watchdog(_ environment: [String: String]) -> Duration? {
        let process = environment["WATCHDOG_PID"].map { Int32($0) } ?? getpid()
        guard process == getpid(), let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }),
            microseconds > 0
        else { return nil }
        return .microseconds(microseconds)
    }

    private static func address(_ path: String) -> [UInt8]? {
        var name = path.systemBytes
        guard name.count > 1, path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        // An abstract name begins with a zero byte, and has none at its end.
        if path.hasPrefix("@") { name[0] = 0 } else { name.append(0) }
        guard let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path),
            name.count <= MemoryLayout<sockaddr_un>.size - offset
        else { return nil }
        return withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) } + name
    }

    // MARK: Notifications

    /// Reports that starting or reloading is complete.
    func ready(_ status: String) { self.send("READY=1\nSTATUS=\(Self.line(status))") }

    /// Reports that a reload has begun; ``ready(_:)`` ends it.
    func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
        self.send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)\nSTATUS=reloading")
    }

    /// Reports that the process is stopping.
    func stopping(_ status: String) { self.send("STOPPING=1\nSTATUS=\(Self.line(status))") }

    /// Sends a sign of life.
    func isAlive() { self.send("WATCHDOG=1") }

    private static func line(_ text: String) -> String {
        String(text.prefix(500).map { $0.isNewline ? " " : $0 })
    }

    /// Sends a notification. Errors are ignored, because there is no other place to report them.
    private func send(_ text: String) {
        let bytes = Array(text.utf8)
        self.socket.address.withUnsafeBytes { address in
            guard let place = address.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return }
            _ = sendto(
                self.socket.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), place, socklen_t(address.count))
        }
    }
}
