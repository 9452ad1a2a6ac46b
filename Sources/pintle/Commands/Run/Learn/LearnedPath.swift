// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Converts paths for a configuration in a folder, so that the folder can be moved together with its files.
struct LearnedPath {
    /// The folder of the configuration; symbolic links are resolved if it exists.
    private let folder: [Substring]

    /// - Parameter folder: relative to the working directory, or absolute.
    init(from folder: String) { self.folder = Self.parts(Self.resolved(folder)) }

    /// Returns the path relative to the folder; an absolute path if both share only the root, as for files of the system.
    ///
    /// - Parameter file: relative to the working directory, or absolute.
    func spelled(_ file: String) -> String {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let parts = Self.parts(Self.resolved(OutputPlace.folder(of: file))) + [Substring(name)]
        let shared = zip(parts.dropLast(), self.folder).prefix { $0 == $1 }.count
        guard shared > 0 else { return "/" + parts.joined(separator: "/") }
        let ways = [Substring](repeating: "..", count: self.folder.count - shared) + parts[shared...]
        let path = ways.joined(separator: "/")
        // A value with such a prefix would be read as a reference to another source.
        return path.hasPrefix("env:") || path.hasPrefix("file:") ? "./\(path)" : path
    }

    private static func parts(_ path: String) -> [Substring] { path.split(separator: "/") }

    /// Returns the folder without symbolic links, dots and empty segments; a folder that does not exist is unchanged.
    private static func resolved(_ folder: String) -> String {
        realpath(folder) ?? folder
    }
}
