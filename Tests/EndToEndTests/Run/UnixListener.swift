// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting

/// A Unix socket that accepts connections and answers none (unix(7)).
struct UnixListener {
    enum Name {
        case abstract(String)
        case path(String)
    }

    private let descriptor: Int32

    init(_ name: Name) throws {
        self.descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An abstract name begins with a zero.
        let bytes: [UInt8]
        switch name {
        case .abstract(let name): bytes = [0] + name.utf8
        case .path(let path): bytes = path.utf8 + [0]
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(self.descriptor, $0, length) }
        }
        guard code == 0, listen(self.descriptor, 128) == 0 else {
            throw TestFailure("there is no Unix socket \(name): errno \(errno)")
        }
        if case .path(let path) = name { chmod(path, 0o777) }
    }

    func close() { Glibc.close(self.descriptor) }
}

/// A folder with the socket of a service, open to all users.
struct ServiceFolder {
    let path: String
    private let listener: UnixListener

    var socket: String { "\(self.path)/service" }

    /// - Parameter base: an absolute path.
    init(in base: String) throws {
        self.path = "\(base)/pintle-service-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        mkdir(self.path, 0o755)
        self.listener = try UnixListener(.path("\(self.path)/service"))
    }

    /// Folders in a temporary one, and if this user may, in /run.
    static func all(beside folder: TemporaryFolder) throws -> [ServiceFolder] {
        let bases: [String] = [folder.path, "/run"]
        return try bases.filter { (base: String) in access(base, W_OK) == 0 }.map { try ServiceFolder(in: $0) }
    }

    func remove() {
        self.listener.close()
        unlink(self.socket)
        // A folder that is not empty is left.
        rmdir(self.path)
    }
}
