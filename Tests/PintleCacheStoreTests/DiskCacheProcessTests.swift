// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleCacheStore
import PintleCacheTrial
import PintleTesting
import Testing

/// Processes that are killed, that hold a folder, and that have no disk left.
@Suite struct DiskCacheProcessTests {
    private static let program = "\(PintleProcess.products)/PintleCacheTrial"

    /// Kills a process at 200 moments of its work, chosen by how much it has told. Four folders are taken at once.
    @Test func `a process that is killed loses the entry that it was writing and nothing else`() async throws {
        let seed = Seed.ofThisRun
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 as Range<UInt64> {
                group.addTask { try await Self.kill(50, seed: seed &+ worker) }
            }
            try await group.waitForAll()
        }
    }

    private static func kill(_ times: Int, seed: UInt64) async throws {
        let place = try CacheTrialFolder()
        var random = SeededGenerator(seed: seed)
        // The number of the last entry that was committed, by key.
        var committed: [String: UInt64] = [:]
        var next: UInt64 = 0
        for turn in 0..<times {
            let process = try ChildProcess(Self.program, ["write", place.path, "\(next)"])
            // Few lines come while it opens the cache; most moments are to be those of writing.
            let lines = turn % 5 == 0 ? Int.random(in: 0...2, using: &random) : Int.random(in: 3...120, using: &random)
            if lines > 0 { try process.waitForLines(lines, "its work") { _ in true } }
            process.signal(SIGKILL)
            #expect(try process.waitForExit() == 128 + SIGKILL)
            var begun: UInt64?
            for line in process.output {
                let words = line.split(separator: " ", maxSplits: 2)
                if words[0] == "begin" { begun = UInt64(words[1]) }
                if words[0] == "committed", let number = UInt64(words[1]) { committed["\(words[2])"] = number }
                #expect(words[0] != "event", "seed \(seed), turn \(turn): \(line)")
            }
            // The entry that was being written may be there, if the process was killed before it could say so.
            if let begun { next = begun + 1 }
            try await Self.check(place, &committed, maybe: begun, "seed \(seed), turn \(turn)")
        }
        #expect(place.told == [])
    }

    private static func check(
        _ place: CacheTrialFolder, _ committed: inout [String: UInt64], maybe: UInt64?, _ comment: Comment
    ) async throws {
        let cache = try await place.open(capacity: 1 << 30)
        for number in 0..<50 {
            let key = "key \(number)"
            let entries = try await cache.entries(for: key)
            let numbers = entries.compactMap { UInt64(String(decoding: $0.head, as: UTF8.self)) }
            if let maybe, numbers == [maybe] { committed[key] = maybe }
            #expect(numbers == (committed[key].map { [$0] } ?? []), "\(key), \(comment)")
            for (entry, number) in zip(entries, numbers) {
                #expect(entry.length == UInt64(TrialContent.length(number)), comment)
                #expect(
                    try await cache.body(of: entry) == TrialContent.bytes(number, count: TrialContent.length(number)),
                    comment)
            }
        }
        #expect(cache.statistics.entries == committed.count, comment)
        await cache.waitForSweep()
        #expect(try place.bodies().count == committed.count, comment)
        await cache.close()
    }

    @Test func `a folder belongs to one process, until that is killed`() async throws {
        let place = try CacheTrialFolder()
        let process = try ChildProcess(Self.program, ["hold", place.path])
        try process.waitForLine("the cache") { $0.hasPrefix("open ") }
        let error = await #expect(throws: DiskCacheError.self) { _ = try await place.open() }
        #expect(error?.code == .inUse && error?.description.contains("(\(process.pid))") == true)
        process.signal(SIGKILL)
        try process.waitForExit()
        try await place.open().store("u", [1])
    }

    /// True if a process may have its own file systems on this machine.
    private static let hasMounts: Bool = {
        let process = try? ChildProcess("/usr/bin/unshare", ["-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        return (try? process?.waitForExit()) == 0
    }()

    @Test(.enabled(if: Self.hasMounts, "needs unshare(1) and the right to mount a tmpfs in a user namespace"))
    func `a disk that is full is said once, what is stored is read, and removing makes room`() throws {
        let folder = try TemporaryFolder()
        let process = try ChildProcess(
            "/usr/bin/unshare",
            [
                "-Urm", "/bin/sh", "-c", "mount -t tmpfs -o size=4m tmpfs \"$0\" && exec \"$1\" fill \"$0\"",
                folder.path, Self.program,
            ])
        #expect(try process.waitForExit() == 0)
        let attempts = process.output.filter { $0.hasPrefix("attempt ") }
        #expect(attempts == (1...5).map { "attempt \($0) no-space" })
        let others = process.output.filter { !$0.hasPrefix("attempt ") && !$0.hasPrefix("event ") }
        #expect(
            others == [
                "opening", "first stored", "full: no space left on the device", "first read 100000", "removed 1",
                "first unknown", "again stored", "again read 200000", "entries 1",
            ])
        let events = process.output.filter { $0.hasPrefix("event ") }
        #expect(events.count == 2, "\(events)")
        #expect(
            events.first?.hasSuffix(
                "cannot be written: no space left on the device; answers are passed on and not stored until that has changed"
            )
                == true)
        #expect(events.last == "event \(folder.path)/cache: the cache is written again")
    }

    /// A limit on the size of files (setrlimit(2)) has the same effect if nothing can be mounted: bodies of more than 1 MiB
    /// exceed it, the index does not.
    @Test(.disabled(if: runsUnderSanitizer, "ThreadSanitizer's own files grow, too"))
    func `a file that may not grow is said once as well`() async throws {
        let folder = try TemporaryFolder()
        let process = try ChildProcess(
            "/usr/bin/prlimit", ["--fsize=150000", Self.program, "fill", folder.path])
        try process.waitForExit()
        #expect(process.output.contains("first stored"), "\(process.lines)")
        #expect(process.output.contains("attempt 5 no-space"))
        #expect(process.output.count { $0.hasPrefix("event ") } == 1)
    }
}
