// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Spells files for a configuration in a folder, so that the folder can be moved with all that it needs.
struct LearnedPath {
    /// The folder of the configuration; without links where it is there.
    private let folder: [Substring]

    /// - Parameter folder: relative to the current one, or absolute.
    init(from folder: String) { self.folder = Self.parts(Self.resolved(folder)) }

    /// The path from the folder, or from the root for a file that shares no folder with it but that: a system's own.
    ///
    /// - Parameter file: relative to the current folder, or absolute.
    func spelled(_ file: String) -> String {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let parts = Self.parts(Self.resolved(OutputPlace.folder(of: file))) + [Substring(name)]
        let shared = zip(parts.dropLast(), self.folder).prefix { $0 == $1 }.count
        guard shared > 0 else { return "/" + parts.joined(separator: "/") }
        let ways = [Substring](repeating: "..", count: self.folder.count - shared) + parts[shared...]
        let path = ways.joined(separator: "/")
        // A value with such a beginning would be read from elsewhere.
        return path.hasPrefix("env:") || path.hasPrefix("file:") ? "./\(path)" : path
    }

    private static func parts(_ path: String) -> [Substring] { path.split(separator: "/") }

    /// Without links, dots and empty segments; a folder that is not there is as it was spelled.
    private static func resolved(_ folder: String) -> String {
        realpath(folder) ?? folder
    }
}
