// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleCacheStore
internal import PintleSystem

/// A process that uses a cache, and tells at each step how far it is: `PintleCacheTrial write FOLDER FIRST` stores entries
/// until it is killed, numbered from FIRST on; `PintleCacheTrial fill FOLDER` uses up the disk that the folder is on;
/// `PintleCacheTrial hold FOLDER` keeps the folder until it is killed.
@main struct CacheTrial {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else { return self.say("usage: PintleCacheTrial write|fill|hold FOLDER [FIRST]") }
        let folder = arguments[2]
        // A file that may not grow is to be an error, and not the end.
        signal(SIGXFSZ, SIG_IGN)
        self.say("opening")
        switch arguments[1] {
        case "write": try await self.write(folder, from: UInt64(arguments.last ?? "") ?? 0)
        case "fill": try await self.fill(folder)
        default:
            let cache = try await DiskCache.open(folder)
            self.say("open \(cache.statistics.entries)")
            while true { pause() }
        }
    }

    private static func say(_ line: String) {
        Array("\(line)\n".utf8).withUnsafeBytes { bytes in
            // Without a reader the output is lost, which does not matter.
            try? FileWriting.writeAll(bytes, to: 1)
        }
    }

    // MARK: Writing until it is killed

    private static func write(_ folder: String, from first: UInt64) async throws {
        let cache = try await DiskCache.open(folder, capacity: 1 << 30) { self.say("event \($0)") }
        self.say("open \(cache.statistics.entries)")
        var number = first
        while true {
            // Some keys come again, so that entries are replaced, too.
            let key = "key \(TrialContent.mix(number) % 50)"
            let old = try await cache.entries(for: key)
            for entry in old.prefix(1) {
                let reader = try await cache.reader(of: entry)
                _ = try await reader.read(offset: 0)
            }
            self.say("begin \(number)")
            let body = TrialContent.bytes(number, count: TrialContent.length(number))
            let writer = try await cache.write(
                key, url: "http://trial/\(number)", head: Array("\(number)".utf8), tags: ["tag \(number % 10)"])
            var rest = ByteBuffer(bytes: body)
            while let piece = rest.readSlice(length: min(rest.readableBytes, 50_000)), piece.readableBytes > 0 {
                try await writer.append(piece)
                self.say("append \(number)")
            }
            try await writer.commit(replacing: old)
            self.say("committed \(number) \(key)")
            number += 1
        }
    }

    // MARK: A disk that is full

    private static func fill(_ folder: String) async throws {
        let cache = try await DiskCache.open("\(folder)/cache", capacity: 1 << 30) { self.say("event \($0)") }
        self.say("first \(await self.store("first", 100_000, cache))")
        let ballast = "\(folder)/ballast"
        let descriptor = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let bytes = [UInt8](repeating: 1, count: 4096)
        while Glibc.write(descriptor, bytes, bytes.count) > 0 {}
        self.say("full: \(SystemError.last)")
        close(descriptor)
        for number in 1...5 { self.say("attempt \(number) \(await self.store("more \(number)", 200_000, cache))") }
        self.say("first \(await self.read("first", cache))")
        self.say("removed \(try await self.remove("first", cache))")
        self.say("first \(await self.read("first", cache))")
        unlink(ballast)
        self.say("again \(await self.store("again", 200_000, cache))")
        self.say("again \(await self.read("again", cache))")
        self.say("entries \(cache.statistics.entries)")
        await cache.close()
    }

    /// - Returns: "stored", or the code of the error.
    private static func store(_ name: String, _ count: Int, _ cache: DiskCache) async -> String {
        do throws(DiskCacheError) {
            let writer = try await cache.write(name, url: name, head: [1])
            try await writer.append(ByteBuffer(bytes: TrialContent.bytes(7, count: count)))
            try await writer.commit()
            return "stored"
        } catch {
            return error.code.rawValue
        }
    }

    /// Removes the entry that was read. Its reader's descriptor is closed on another thread, and until then may occupy the
    /// space that a removal needs.
    private static func remove(_ name: String, _ cache: DiskCache) async throws(DiskCacheError) -> Int {
        while true {
            do throws(DiskCacheError) {
                return try await cache.remove(url: name)
            } catch {
                guard error.code == .noSpace else { throw error }
                await Task.yield()
            }
        }
    }

    /// - Returns: the number of bytes read if they are right, or the code of the error.
    private static func read(_ name: String, _ cache: DiskCache) async -> String {
        do throws(DiskCacheError) {
            guard let entry = try await cache.entries(for: name).first else { return "unknown" }
            let reader = try await cache.reader(of: entry)
            var body: [UInt8] = []
            while true {
                let piece = try await reader.read(offset: UInt64(body.count))
                if piece.readableBytes == 0 { break }
                body += piece.readableBytesView
            }
            return body == TrialContent.bytes(7, count: body.count) ? "read \(body.count)" : "read something else"
        } catch {
            return error.code.rawValue
        }
    }
}
