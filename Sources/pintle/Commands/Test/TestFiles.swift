// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintlePolicy
internal import PintleSystem

/// Finds the files of policy tests that a command line names: files, folders and patterns.
struct TestFiles {
    /// The end of the name of a file with policy tests. A folder's other files are none.
    static let suffixes = [".pintle-test.yaml", ".pintle-test.yml"]
    /// The most folders below each other.
    private static let depthLimit = 32
    /// The most files of a run.
    private static let fileLimit = 10_000

    /// The files, each once, those of a folder in the order of their names.
    private(set) var paths: [String] = []
    private var seen: Set<String> = []
    private let surroundings: LoaderEnvironment
    /// The command in messages, as in `pintle test`.
    private let command: String

    /// - Parameter surroundings: told of the folders in which new files would matter.
    /// - Throws: an error if a name leads to no test.
    init(_ names: [String], _ surroundings: LoaderEnvironment, for command: String) throws(CommandFailure) {
        (self.surroundings, self.command) = (surroundings, command)
        for name in names { try self.add(name) }
    }

    private mutating func add(_ name: String) throws(CommandFailure) {
        var status = stat()
        if pathStat(name, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else { return try self.addFile(name) }
            guard try self.addFolder(name, depth: 0) > 0 else {
                throw CommandFailure(
                    .configuration, "\(self.command): there is no *\(Self.suffixes[0]) in the folder \(name)")
            }
            return
        }
        guard name.contains(where: { "*?[".contains($0) }) else {
            throw CommandFailure(.incomplete, "\(self.command): there is no file or folder \(name)")
        }
        self.surroundings.noteListing(OutputPlace.folder(of: name))
        let matches = self.surroundings.matches(name)
        guard !matches.isEmpty else { throw CommandFailure(.incomplete, "\(self.command): nothing matches \(name)") }
        for path in matches { try self.add(path) }
    }

    private mutating func addFile(_ path: String) throws(CommandFailure) {
        guard self.seen.insert(self.surroundings.identity(path)).inserted else { return }
        guard self.paths.count < Self.fileLimit else {
            throw CommandFailure(.usage, "\(self.command): more than \(Self.fileLimit) files; name fewer at a time")
        }
        self.paths.append(path)
    }

    /// Adds the tests in a folder and the folders below it. Hidden folders are left out, and so are links to folders, which
    /// could lead round in circles.
    ///
    /// - Returns: the number of tests in them, whether they were added before or not.
    private mutating func addFolder(_ folder: String, depth: Int) throws(CommandFailure) -> Int {
        guard depth < Self.depthLimit else { return 0 }
        var count = 0
        self.surroundings.noteListing(folder)
        for name in FolderListing.names(in: folder, most: .max).sorted() where !name.hasPrefix(".") {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                count += try self.addFolder(path, depth: depth + 1)
            } else if Self.suffixes.contains(where: name.hasSuffix) {
                try self.addFile(path)
                count += 1
            }
        }
        return count
    }
}
