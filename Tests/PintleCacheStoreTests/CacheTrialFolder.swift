// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleCacheStore
import PintleSystem
import PintleTesting

/// A folder for a cache, and the events of its caches.
final class CacheTrialFolder: Sendable {
    let folder: TemporaryFolder
    private let events = Locked<[DiskCache.Event]>([])

    init() throws { self.folder = try TemporaryFolder() }

    /// The events so far.
    var told: [DiskCache.Event] { self.events.withLock { $0 } }

    var path: String { "\(self.folder.path)/cache" }

    func open(
        capacity: UInt64 = DiskCache.defaultCapacity, largestEntry: UInt64? = nil
    ) async throws(DiskCacheError) -> DiskCache {
        let events = self.events
        return try await DiskCache.open(self.path, capacity: capacity, largestEntry: largestEntry) { event in
            events.withLock { $0.append(event) }
        }
    }

    /// The files of bodies, by their paths.
    func bodies() throws -> [String] { try self.files(below: "\(self.path)/bodies").sorted() }

    /// The bytes of disk that everything in the folder takes.
    func bytesOnDisk() throws -> UInt64 {
        try self.files(below: self.path).reduce(0) { sum, file in
            var status = stat()
            return stat(file, &status) == 0 ? sum + UInt64(status.st_blocks) * 512 : sum
        }
    }

    private func files(below path: String) throws -> [String] {
        guard let listing = opendir(path) else { return [] }
        defer { closedir(listing) }
        var files: [String] = []
        while let item = readdir(listing) {
            let name = withUnsafePointer(to: &item.pointee.d_name) { place in
                place.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name == "." || name == ".." { continue }
            if item.pointee.d_type == DT_DIR {
                files += try self.files(below: "\(path)/\(name)")
            } else {
                files.append("\(path)/\(name)")
            }
        }
        return files
    }

    /// Flips a bit of a file.
    static func damage(_ file: String, at offset: Int) throws {
        let descriptor = Glibc.open(file, O_RDWR)
        guard descriptor >= 0 else { throw SystemError.last }
        defer { close(descriptor) }
        var byte: UInt8 = 0
        guard pread(descriptor, &byte, 1, off_t(offset)) == 1 else {
            throw TestFailure("\(file) has no byte \(offset)")
        }
        byte ^= 4
        guard pwrite(descriptor, &byte, 1, off_t(offset)) == 1 else { throw SystemError.last }
    }
}

extension DiskCache {
    /// Stores an entry whose key and URL are one.
    @discardableResult
    func store(
        _ url: String, _ body: [UInt8], head: [UInt8] = [1, 2, 3], tags: [String] = [], key: String? = nil,
        replacing replaced: [Entry] = []
    ) async throws(DiskCacheError) -> Entry {
        let writer = try await self.write(key ?? url, url: url, head: head, tags: tags)
        var rest = ByteBuffer(bytes: body)
        while let piece = rest.readSlice(length: min(rest.readableBytes, 40_000)), piece.readableBytes > 0 {
            try await writer.append(piece)
        }
        return try await writer.commit(replacing: replaced)
    }

    /// The whole body of an entry.
    func body(of entry: Entry) async throws(DiskCacheError) -> [UInt8] {
        try await self.reader(of: entry).rest()
    }

    /// The body of the newest entry of a key; nil if there is no entry.
    func body(_ key: String) async throws(DiskCacheError) -> [UInt8]? {
        guard let entry = try await self.entries(for: key).first else { return nil }
        return try await self.body(of: entry)
    }
}

extension DiskCache.Reader {
    /// The body from `offset` on.
    func rest(from offset: UInt64 = 0) async throws(DiskCacheError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try await self.read(offset: offset + UInt64(bytes.count))
            if piece.readableBytes == 0 { return bytes }
            bytes += piece.readableBytesView
        }
    }
}

/// The code of the error that `work` throws; nil if it throws none.
func code(_ work: () async throws(DiskCacheError) -> Void) async -> DiskCacheError.Code? {
    do throws(DiskCacheError) {
        try await work()
        return nil
    } catch {
        return error.code
    }
}
