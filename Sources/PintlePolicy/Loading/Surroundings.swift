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
    /// The machine's name, as its administrator has set it; nil for none.
    package var machineName: String?
    /// Told of files that are read by other means, before they are.
    package var note: @Sendable (_ path: String) -> Void = { _ in }
    /// Told of folders of which it counts which files are in them.
    package var noteListing: @Sendable (_ folder: String) -> Void = { _ in }
    /// The paths that a pattern with `*`, `?` or `[…]` stands for, by name.
    package var matches: @Sendable (_ pattern: String) -> [String] = { _ in [] }
    /// What a path leads to, the same for all paths that lead there.
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

    /// Those of a process with this environment: the real file system.
    package static func system(environment: [String: String]) -> Surroundings {
        var surroundings = Surroundings(
            environment: environment,
            read: { (path, limit) throws(ReadingError) in try Self.readFile(path, limit) },
            exists: { access($0, F_OK) == 0 })
        surroundings.machineName = Self.nameOfThisMachine
        surroundings.matches = { Self.paths(matching: $0) }
        surroundings.identity = { realpath($0) ?? $0 }
        return surroundings
    }

    /// The same, telling of every path on which it depends what is loaded, before it is looked at.
    ///
    /// - Parameter noteListing: told of folders of which it counts which files are in them.
    package func telling(
        _ note: @escaping @Sendable (_ path: String) -> Void,
        listings noteListing: @escaping @Sendable (_ folder: String) -> Void = { _ in }
    ) -> Surroundings {
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
        surroundings.noteListing = noteListing
        (surroundings.matches, surroundings.identity) = (self.matches, self.identity)
        surroundings.machineName = self.machineName
        return surroundings
    }

    /// glob(3), which sorts what it finds by bytes: no program of ours sets a locale.
    private static func paths(matching pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard pattern.withSystemText({ glob($0, 0, nil, &found) }) == 0 else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { index in found.gl_pathv[index].map { String(systemText: $0) } }
    }

    private static var nameOfThisMachine: String? {
        // HOST_NAME_MAX is 64 on Linux (gethostname(2)), and a longer name would not be ended by a zero.
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
