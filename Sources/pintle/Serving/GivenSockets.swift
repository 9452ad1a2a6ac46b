// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy

/// Listening sockets that a service manager passes to this process (sd_listen_fds(3)). They replace `listen`.
struct GivenSockets: Sendable {
    /// The addresses of the sockets, one for each descriptor; a socket named `https` uses TLS.
    let places: [ListenAddress]
    let descriptors: [Int32]

    /// The number of the first passed descriptor, by the protocol.
    private static let first: Int32 = 3
    private static let most: Int32 = 1024

    /// Reads the variables about the sockets, and removes them from the environment: they are meant for this process only.
    ///
    /// - Throws: an error that names a descriptor that is not a listening stream socket.
    static func taken() throws(CommandFailure) -> GivenSockets {
        let environment = Inherited.environment
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        // The variables may be meant for a process that started this one.
        guard let text = environment["LISTEN_FDS"], environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid() else {
            return GivenSockets(places: [], descriptors: [])
        }
        guard let count = Int32(text), (0...Self.most).contains(count) else {
            throw CommandFailure(.usage, "LISTEN_FDS=\(text.prefix(100)): a number from 0 to \(Self.most)")
        }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        let descriptors = Array(Self.first..<Self.first + count)
        var places: [ListenAddress] = []
        for (index, descriptor) in descriptors.enumerated() {
            let name = index < names.count ? String(names[index]) : ""
            places.append(try Self.place(of: descriptor, named: name))
        }
        return GivenSockets(places: places, descriptors: descriptors)
    }

    private static func place(of descriptor: Int32, named name: String) throws(CommandFailure) -> ListenAddress {
        func refusal(_ reason: String) -> CommandFailure {
            let words = name.isEmpty ? "" : " \"\(name.prefix(100))\""
            return CommandFailure(.incomplete, "the descriptor \(descriptor)\(words) of LISTEN_FDS \(reason)")
        }
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw refusal("is not open") }
        guard let type = Self.option(SO_TYPE, of: descriptor) else { throw refusal("is no socket") }
        guard type == Int32(SOCK_STREAM.rawValue) else { throw refusal("is no stream socket; use ListenStream=") }
        guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1 else {
            throw refusal("does not listen; leave Accept=no in its unit")
        }
        let isTLS = name == "https"
        guard let address = SocketAddress(boundTo: descriptor) else {
            throw refusal("is bound to neither an IP address nor a path")
        }
        if let path = address.pathOfSocket {
            guard !isTLS else { throw refusal("is a Unix socket, on which no TLS is spoken; give it another name") }
            return ListenAddress(unixSocket: path)
        }
        guard let ip = address.ipAddress.flatMap({ IPAddress($0) }),
            let port = address.port.flatMap({ UInt16(exactly: $0) })
        else { throw refusal("is bound to neither an IP address nor a path") }
        return ListenAddress(address: ip, port: port, use: isTLS ? .proxyOverTLS : .proxy)
    }

    private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
    }
}
