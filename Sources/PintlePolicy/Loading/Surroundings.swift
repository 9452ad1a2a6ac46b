// SPDX-License-Identifier: Apache-2.0

private import Glibc
internal import PintleSystem

/// What a configuration may look at besides its own text: the environment and files.
///
/// A value that is passed in, so that loading is a function of its arguments and tests need no disk.
package struct Surroundings: Sendable {
    /// Why a file could not be read.
    package enum ReadingError: Error, Equatable {
        case notFound
        case tooLarge
        /// The system's words.
        case unreadable(String)
    }

    /// Environment variables.
    package var environment: [String: String]
    /// The bytes of the file at a path, which may be relative to the working directory; at most the given number.
    package var read: @Sendable (_ path: String, _ limit: Int) throws(ReadingError) -> [UInt8]
    /// Whether there is a file at a path.
    package var exists: @Sendable (_ path: String) -> Bool
    /// Told of files that are read by other means, before they are.
    package var note: @Sendable (_ path: String) -> Void = { _ in }

    package init(
        environment: [String: String],
        read: @escaping @Sendable (_ path: String, _ limit: Int) throws(ReadingError) -> [UInt8],
        exists: @escaping @Sendable (_ path: String) -> Bool
    ) {
        self.environment = environment
        self.read = read
        self.exists = exists
    }

    /// Those of a process with this environment: the real file system.
    package static func system(environment: [String: String]) -> Surroundings {
        Surroundings(
            environment: environment,
            read: { (path, limit) throws(ReadingError) in try Self.readFile(path, limit) },
            exists: { access($0, F_OK) == 0 })
    }

    /// The same, telling of every path on which it depends what is loaded, before it is looked at.
    package func telling(_ note: @escaping @Sendable (_ path: String) -> Void) -> Surroundings {
        let (read, exists) = (self.read, self.exists)
        var surroundings = Surroundings(
            environment: self.environment,
            read: { (path, limit) throws(ReadingError) in
                note(path)
                return try read(path, limit)
            },
            exists: { path in
                note(path)
                return exists(path)
            })
        surroundings.note = note
        return surroundings
    }

    private static func readFile(_ path: String, _ limit: Int) throws(ReadingError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw errno == ENOENT ? .notFound : .unreadable(Self.systemError)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw .unreadable(Self.systemError)
            }
            guard bytes.count + count <= limit else { throw .tooLarge }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    private static var systemError: String { SystemError.last.description }
}
