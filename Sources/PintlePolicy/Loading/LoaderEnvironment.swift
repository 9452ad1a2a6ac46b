// SPDX-License-Identifier: Apache-2.0

private import Glibc
internal import PintleSystem

/// The environment and the files, as far as a configuration may look at them.
///
/// They are passed in as a value, so that loading is a function of its arguments and tests need no disk.
package struct LoaderEnvironment: Sendable {
    /// The reason why a file could not be read.
    package enum ReadingError: Error, Equatable {
        case notFound
        case tooLarge
        /// The system's message.
        case unreadable(String)
    }

    /// Environment variables.
    package var environment: [String: String]
    /// Returns the bytes of the file at a path, which may be relative to the working directory; throws if there are more than
    /// `limit`.
    package var read: @Sendable (_ path: String, _ limit: Int) throws(ReadingError) -> [UInt8]
    /// True if there is a file at a path.
    package var exists: @Sendable (_ path: String) -> Bool
    /// The machine's name, as its administrator has set it; nil for none.
    package var machineName: String?
    /// Called with the path of a file that is read by other means, before it is read.
    package var note: @Sendable (_ path: String) -> Void = { _ in }
    /// Called with a folder if it matters which files are in it.
    package var noteListing: @Sendable (_ folder: String) -> Void = { _ in }
    /// Called with the path of a file that is the value of a key (`file:PATH`), before it is read.
    package var noteValue: @Sendable (_ path: String) -> Void = { _ in }
    /// The paths that match a pattern with `*`, `?` or `[…]`, sorted by name.
    package var matches: @Sendable (_ pattern: String) -> [String] = { _ in [] }
    /// Identifies the file that a path leads to: equal for all paths to the same file.
    package var identity: @Sendable (_ path: String) -> String = { $0 }

    package init(
        environment: [String: String],
        read: @escaping @Sendable (_ path: String, _ limit: Int) throws(ReadingError) -> [UInt8],
        exists: @escaping @Sendable (_ path: String) -> Bool
    ) {
        self.environment = environment
        self.read = read
        self.exists = exists
    }

    /// The environment and the real file system of a process.
    package static func system(environment: [String: String]) -> LoaderEnvironment {
        var surroundings = LoaderEnvironment(
            environment: environment,
            read: { (path, limit) throws(ReadingError) in try Self.readFile(path, limit) },
            exists: { access($0, F_OK) == 0 })
        surroundings.machineName = Self.nameOfThisMachine
        surroundings.matches = { PintleSystem.paths(matching: $0) }
        surroundings.identity = { realpath($0) ?? $0 }
        return surroundings
    }

    /// A copy that calls `note` with every path that loading depends on, before it looks at the path.
    ///
    /// - Parameters:
    ///   - noteListing: called with a folder if it matters which files are in it.
    ///   - noteValue: called, too, with the path of a file that is the value of a key (`file:PATH`).
    package func telling(
        _ note: @escaping @Sendable (_ path: String) -> Void,
        listings noteListing: @escaping @Sendable (_ folder: String) -> Void = { _ in },
        values noteValue: @escaping @Sendable (_ path: String) -> Void = { _ in }
    ) -> LoaderEnvironment {
        let (read, exists) = (self.read, self.exists)
        var surroundings = LoaderEnvironment(
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
        surroundings.noteListing = noteListing
        surroundings.noteValue = noteValue
        (surroundings.matches, surroundings.identity) = (self.matches, self.identity)
        surroundings.machineName = self.machineName
        return surroundings
    }

    private static var nameOfThisMachine: String? {
        // HOST_NAME_MAX is 64 on Linux (gethostname(2)); a longer name would not end with a zero.
        var text = [CChar](repeating: 0, count: 65)
        guard gethostname(&text, 64) == 0 else { return nil }
        let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return name.isEmpty ? nil : name
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
