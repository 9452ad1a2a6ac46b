// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PintleSystem
internal import PintleTrust

/// An origin on a free port of 127.0.0.1 that serves the doctor's pages, with one request and one thread for each
/// connection. Its only client is the doctor's own proxy.
struct DoctorOrigin: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// The maximum size of a request's head, in bytes.
    private static let longestHead = 64 << 10
    private static let patience = timeval(tv_sec: 10, tv_usec: 0)

    /// Listens on a free port, and serves requests.
    ///
    /// - Parameter context: the settings of TLS; nil for plaintext.
    init(_ context: TLSServerContext?) throws(SystemError) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .last }
        // A struct sockaddr_in: the family, the port, and the address 127.0.0.1. The members of that type belong to whichever module
        // has included it first.
        var address: [UInt16] = [UInt16(AF_INET), 0, UInt16(0x7F00).bigEndian, UInt16(1).bigEndian, 0, 0, 0, 0]
        var size = socklen_t(address.count * MemoryLayout<UInt16>.size)
        let code = address.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { place in
                Glibc.bind(descriptor, place.baseAddress, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, place.baseAddress, &size) == 0 ? 0 : errno
            }
        }
        guard code == 0 else {
            close(descriptor)
            throw SystemError(code)
        }
        self.port = UInt16(bigEndian: address[1])
        self.descriptor = descriptor
        try ThreadPool.shared.run { Self.serve(descriptor, context) }
    }

    /// Stops listening.
    func stop() {
        // This wakes the thread, which then closes the socket.
        shutdown(self.descriptor, Int32(SHUT_RDWR))
    }

    private static func serve(_ listener: Int32, _ context: TLSServerContext?) {
        while true {
            let peer = accept(listener, nil, nil)
            if peer < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                break
            }
            _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
            var patience = self.patience
            setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            do throws(SystemError) {
                try ThreadPool.shared.run { self.serve(peer: peer, context) }
            } catch {
                close(peer)
            }
        }
        close(listener)
    }

    private static func serve(peer: Int32, _ context: TLSServerContext?) {
        defer { close(peer) }
        guard let connection = try? Connection(peer, context), let path = Self.path(from: connection) else { return }
        let origin = "\(context == nil ? "http" : "https")://\(DoctorPages.host)"
        let page = DoctorPages.page(path, of: origin)
        let text = page?.text ?? "there is no such page\n"
        connection.write(
            """
            HTTP/1.1 \(page == nil ? "404 Not Found" : "200 OK")\r
            Content-Type: \(page?.type ?? "text/plain")\r
            Content-Length: \(text.utf8.count)\r
            Connection: close\r
            \r
            \(text)
            """)
        connection.end()
    }

    /// Returns the path of the request; nil if the request is incomplete.
    private static func path(from connection: Connection) -> String? {
        var head: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        while !head.suffix(4 + 4096).contains(end) {
            guard head.count < Self.longestHead, let bytes = connection.read() else { return nil }
            head += bytes
        }
        let line = head.prefix { $0 != UInt8(ascii: "\r") }
        let words = line.split(separator: UInt8(ascii: " "))
        guard words.count == 3 else { return nil }
        return String(decoding: words[1].prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// A blocking socket, with TLS or without.
    private struct Connection {
        private let descriptor: Int32
        private let tls: TLSConnection?

        init(_ descriptor: Int32, _ context: TLSServerContext?) throws(TrustError) {
            self.descriptor = descriptor
            if let context {
                self.tls = try TLSConnection(context, descriptor: descriptor)
            } else {
                self.tls = nil
            }
        }

        /// Returns the next bytes; nil at the end of the connection, and after an error.
        func read() -> [UInt8]? {
            let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { space, count in
                let space = UnsafeMutableRawBufferPointer(space)
                guard let tls else {
                    count = max(0, recv(self.descriptor, space.baseAddress, space.count, 0))
                    return
                }
                if case .bytes(let read) = tls.read(into: space) { count = read }
            }
            return bytes.isEmpty ? nil : bytes
        }

        func write(_ text: String) {
            Array(text.utf8).withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let next = UnsafeRawBufferPointer(rebasing: rest)
                    let count: Int
                    if let tls {
                        guard case .bytes(let written) = tls.write(next) else { return }
                        count = written
                    } else {
                        count = send(self.descriptor, next.baseAddress, next.count, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            }
        }

        func end() { _ = self.tls?.finishOutput() }
    }
}
