// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting

extension TemporaryFolder {
    /// A path in the folder.
    func path(_ name: String) -> String { "\(self.path)/\(name)" }

    /// The bytes of a file, or nil if it does not exist.
    func bytes(_ name: String) -> [UInt8]? { fileBytes(self.path(name)) }

    /// The names of the files in the folder, in order.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: self.path))?.sorted() ?? [] }
}

/// Bytes of which no stretch is like another near it.
func sampleBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
}

/// A separate file system in memory, for behaviour at the end of a disk. Only root can have one.
final class SmallDisk: Sendable {
    let path: String

    /// True if this process may make one; otherwise a test that needs one is skipped, and says so.
    static let isPossible = (try? SmallDisk(in: TemporaryFolder(), bytes: 65536)) != nil

    /// Puts it into `folder`, which must stay.
    ///
    /// - Parameter files: the most files that it can hold, itself included; 0 for no limit.
    init(in folder: TemporaryFolder, bytes: Int, files: Int = 0, options: UInt = 0) throws {
        let path = folder.path("disk")
        mkdir(path, 0o700)
        guard mount("tmpfs", path, "tmpfs", options, "size=\(bytes),nr_inodes=\(files)") == 0 else {
            throw TestFailure("no file system can be mounted: errno \(errno)")
        }
        self.path = path
    }

    deinit { umount2(self.path, Int32(MNT_DETACH)) }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: self.path))?.sorted() ?? [] }
}

extension TemporaryFolder {
    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: self.path(name)) }
}

/// - Parameter seconds: since 1970.
func setModificationDate(of path: String, to seconds: Int) throws {
    let date = Date(timeIntervalSince1970: Double(seconds))
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
}

extension TemporaryFolder {
    /// Makes a file longer, by bytes that are zero and take no room on the disk.
    func grow(_ name: String, to size: Int) throws {
        guard truncate(self.path(name), off_t(size)) == 0 else { throw TestFailure("truncate: errno \(errno)") }
    }
}
