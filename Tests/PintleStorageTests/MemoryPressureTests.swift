// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleStorage
import PintleSystem
import PintleTesting
import Testing

/// The kernel's signs of memory pressure. Real pressure would take this machine's memory from other programs: a descriptor
/// that becomes ready like those of PSI, and a file like that of a control group, replace it.
@Suite struct MemoryPressureTests {
    @Test func `each rising is told to all subscribers until their subscription ends`() async throws {
        let pair = try UrgentPair()
        defer { close(pair.sender) }
        let pressure = try MemoryPressure(stallsOf: pair.receiver)
        let receiver = pair.receiver
        let ended = Locked(0)
        var first: MemoryPressure.Subscription? = pressure.whenItRises { ended.withLock { $0 += 1 } }
        for turn in 1...3 {
            let event = Latch()
            let subscription = pressure.whenItRises {
                var byte: UInt8 = 0
                if recv(receiver, &byte, 1, Int32(MSG_OOB)) == 1 { event.happen() }
            }
            pair.send()
            await event.wait()
            withExtendedLifetime((first, subscription)) {}
            let count = ended.withLock { $0 }
            #expect(turn == 1 ? count >= 1 : true)
            if turn == 1 {
                first = nil
                ended.withLock { $0 = 0 }
            }
        }
        #expect(ended.withLock { $0 } == 0)
    }

    @Test func `limits of a control group that were met are told when their counts rise`() async throws {
        let folder = try TemporaryFolder()
        func counts(low: Int, high: Int, max: Int, oom: Int) -> String {
            "low \(low)\nhigh \(high)\nmax \(max)\noom \(oom)\noom_kill 0\noom_group_kill 0\n"
        }
        let path = try folder.write(counts(low: 0, high: 3, max: 0, oom: 0), to: "memory.events")
        let pressure = MemoryPressure(stalls: [], limits: path)
        #expect(pressure.sources.map(\.path) == [path] && pressure.sources.map(\.kind) == [.limits])
        let events = Watched(0)
        let subscription = pressure.whenItRises { events.change { $0 += 1 } }
        // The text has the same length, so that a concurrent reader sees either the old counts or the new ones.
        func write(_ text: String) throws {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            defer { close(descriptor) }
            #expect(pwrite(descriptor, text, text.utf8.count, 0) == text.utf8.count)
        }
        try write(counts(low: 9, high: 3, max: 0, oom: 0))
        for (turn, text) in [
            counts(low: 9, high: 4, max: 0, oom: 0), counts(low: 9, high: 4, max: 1, oom: 0),
            counts(low: 9, high: 4, max: 1, oom: 1),
        ].enumerated() {
            try write(text)
            _ = try events.wait(for: "rising \(turn)") { $0 == turn + 1 }
        }
        #expect(events.current == 3)
        withExtendedLifetime(subscription) {}
    }

    @Test func `the kernel is asked for stalls in its own words`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", to: "memory.pressure")
        let pressure = MemoryPressure(stalls: ["\(folder.path)/none", path], limits: nil)
        #expect(pressure.sources.map(\.path) == [path])
        #expect(
            pressure.refusals.map(\.description) == [
                "\(folder.path)/none cannot be watched for memory running short: no such file or folder"
            ])
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("some 200000 2000000\0"))
    }

    @Test func `this machine's stalls are watched, or the reason is there`() {
        let path = "/proc/pressure/memory"
        let pressure = MemoryPressure(stalls: [path], limits: nil)
        #expect(pressure.sources.map(\.path) + pressure.refusals.map(\.source.path) == [path])
        #expect(pressure.refusals.allSatisfy { !$0.reason.isEmpty })
        let system = MemoryPressure.system
        #expect(!system.sources.isEmpty || !system.refusals.isEmpty)
    }

    /// A separate control group, if this machine allows one to be made.
    private static let group: String? = {
        for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
            let path = "\(root)/pintle-test-\(getpid())"
            guard access("\(root)/cgroup.controllers", F_OK) == 0, mkdir(path, 0o755) == 0 else { continue }
            if access("\(path)/memory.pressure", W_OK) == 0 { return path }
            rmdir(path)
        }
        return nil
    }()

    @Test(.enabled(if: Self.group != nil, "needs root, and a cgroup file system of version 2 that may be written"))
    func `a control group's own stalls are watched, also when it goes`() throws {
        let group = try #require(Self.group)
        let pressure = MemoryPressure(stalls: ["\(group)/memory.pressure"], limits: "\(group)/memory.events")
        #expect(pressure.sources.first?.path == "\(group)/memory.pressure")
        // Without the memory controller the group counts no limits, and says so.
        #expect(pressure.sources.count + pressure.refusals.count == 2)
        #expect(rmdir(group) == 0)
    }
}
