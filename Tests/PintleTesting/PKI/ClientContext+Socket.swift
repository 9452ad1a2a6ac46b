// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc

extension MemoryHandshake.ClientContext {
    /// Sends a request over TLS to a port of this machine and reads until the server closes.
    package func exchange(_ request: String, port: Int) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestFailure("socket: errno \(errno)") }
        defer { close(descriptor) }
        guard LoopbackAddress.connect(descriptor, port: port) == 0 else {
            throw TestFailure("connect to port \(port): errno \(errno)")
        }
        ERR_clear_error()
        guard let connection = SSL_new(self.pointer) else { throw TestPKIError("SSL_new") }
        defer { SSL_free(connection) }
        guard SSL_set_fd(connection, descriptor) == 1, SSL_connect(connection) == 1 else {
            throw TestPKIError("SSL_connect")
        }
        let bytes = Array(request.utf8)
        guard SSL_write(connection, bytes, CInt(bytes.count)) == bytes.count else { throw TestPKIError("SSL_write") }
        var answer: [UInt8] = []
        var space = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = SSL_read(connection, &space, CInt(space.count))
            guard count > 0 else { break }
            answer += space[..<Int(count)]
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
