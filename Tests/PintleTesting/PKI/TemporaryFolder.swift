// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// A folder below the system's temporary one, removed with its contents when the object goes.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/pintle-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TemporaryFolderError(path: base, reason: errno) }
        self.path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // A folder that cannot be removed is left; no test depends on it.
        try? FileManager.default.removeItem(atPath: self.path)
    }

    /// Writes a file that only its owner may read; missing folders are made.
    ///
    /// - Parameter name: relative to the folder.
    /// - Returns: the absolute path.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = "\(self.path)/\(name)"
        if let slash = name.lastIndex(of: "/") {
            try FileManager.default.createDirectory(
                atPath: "\(self.path)/\(name[..<slash])", withIntermediateDirectories: true)
        }
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o600)
        return file
    }

    /// Writes a text file in UTF-8.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try self.write(Array(text.utf8), to: name)
    }

    /// Writes `NAME.pem` (the chain, as a server sends it) and `NAME.key`.
    package func write(
        _ identity: TestIdentity, as name: String
    ) throws -> (certificate: String, key: String) {
        (
            certificate: try self.write(identity.chainPEM, to: "\(name).pem"),
            key: try self.write(identity.keyPEM, to: "\(name).key")
        )
    }
}

/// A folder that could not be made.
package struct TemporaryFolderError: Error {
    package let path: String
    /// `errno`.
    package let reason: Int32
}
