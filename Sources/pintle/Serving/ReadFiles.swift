// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleLoop
internal import PintleSystem

/// The files of a configuration: each file that was examined while it was loaded, with its mark from before that.
final class ReadFiles: Sendable {
    private let files = Locked<[String: FileMark]>([:])
    private let valueFiles = Locked<Set<String>>([])
    private let fetchedLists = Locked<[String: String]>([:])

    /// The marks by path.
    var marks: [String: FileMark] { self.files.withLock { $0 } }
    /// The SHA-256 in hexadecimal of the lists that other machines keep, by their URLs.
    var lists: [String: String] { self.fetchedLists.withLock { $0 } }
    /// The paths of files that are the value of a key.
    var values: Set<String> { self.valueFiles.withLock { $0 } }

    /// Records a file, or the files in a folder. The first mark is kept, because a file that is read twice must not change
    /// in between.
    func note(_ path: String) {
        let members = FolderListing.names(in: path, most: .max)
        let paths = [path] + members.map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
        self.files.withLock { files in
            for path in paths where files[path] == nil { files[path] = FileMark(path) }
        }
    }

    /// Records that a file is the value of a key.
    func noteValue(_ path: String) { self.valueFiles.withLock { _ = $0.insert(path) } }

    /// Records a list that another machine keeps.
    func note(list url: String, sha256: String) { self.fetchedLists.withLock { $0[url] = sha256 } }

    /// Records the names of the files in a folder, but not their contents.
    func noteListing(_ folder: String) {
        self.files.withLock { files in if files[folder] == nil { files[folder] = FileMark(folder) } }
    }
}
