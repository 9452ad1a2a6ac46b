// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleMessage
import PintleSystem
import PintleTesting
import Testing

@testable import PintleProxy

/// Random courses of stores and removals in a queue, against a plain model of a disk that may be lost sight of at any moment.
struct ChangeQueueModelTests {
    /// A queue, and the disk on which its changes are carried out.
    private struct Stage {
        static let urls = (0..<3).map { "http://a.test/\($0)" }
        private static let tags = ["odd", "even"]

        /// A removal whose client has been told that it is over.
        struct Told: Sendable {
            let selection: CacheSelection
            /// The number of the last response that was given to the queue before.
            let last: Int
        }

        var queue: ChangeQueue
        /// The numbers of the responses by URL; the number tells the tag.
        var disk: [String: Int] = [:]
        var lastResponse = 0
        private var running: ChangeQueue.Job?
        private let told = Locked<[Told]>([])
        private var begun: [(removal: ChangeQueue.Removal, selection: CacheSelection, last: Int)] = []
        var breaches: [String] = []

        init(mostOfStores: Int, mostOfAll: Int) {
            self.queue = ChangeQueue(mostOfStores: mostOfStores, mostOfAll: mostOfAll)
        }

        var isIdle: Bool { self.running == nil && self.begun.isEmpty && self.queue.count == 0 }

        static func tag(_ number: Int) -> String { Self.tags[number % 2] }

        mutating func store(at url: String) {
            self.lastResponse += 1
            let fields: Fields = ["X": "\(self.lastResponse)"]
            let response = StoredResponse(
                head: ResponseHead(status: 200, fields: fields), requestTime: .now(), responseTime: .now(), length: 1)
            let entry = CacheEntry<SharedBody>(response, BodyPieces([ByteBuffer(string: "a")]))
            let request = RequestHead(method: "GET", target: .origin(path: "/"))
            _ = self.queue.add(.store(entry, request), of: CacheKey(partition: "p", url: url), cost: 300)
        }

        /// Notes a removal. It is added by ``addRemoval()``, because the memory is purged in between.
        mutating func begin(_ selection: CacheSelection, overtakes: Bool) {
            let removal = self.queue.begin(selection, overtakes: overtakes)
            self.begun.append((removal, selection, self.lastResponse))
        }

        mutating func addRemoval() {
            guard !self.begun.isEmpty else { return }
            let (removal, selection, last) = self.begun.removeFirst()
            self.queue.carryOut(removal) { [told] _ in
                told.withLock { $0.append(Told(selection: selection, last: last)) }
            }
        }

        /// Begins the next change, or ends the one that is being carried out.
        mutating func work() {
            if let job = self.running {
                self.running = nil
                for done in self.queue.end(job) { done(0) }
                return
            }
            guard let (job, isNeeded) = self.queue.next() else { return }
            self.running = job
            guard isNeeded else { return }
            switch job.change {
            case .store(let entry, _):
                if let key = job.key { self.disk[key.url] = entry.response.head.fields["X"].flatMap { Int($0) } }
            case .purge(let selection):
                self.disk = self.disk.filter { !selection.covers($0.key, tags: [Self.tag($0.value)]) }
            default: break
            }
        }

        /// A process that is killed now leaves the disk as it is: nothing is there that a client was told to be removed.
        mutating func check() {
            for told in self.told.withLock({ $0 }) {
                for (url, number) in self.disk
                where number <= told.last && told.selection.covers(url, tags: [Self.tag(number)]) {
                    self.breaches.append("\(number) is at \(url) after the removal of \(told.selection)")
                }
            }
        }

        /// The number of removals that are over.
        var toldCount: Int { self.told.withLock { $0.count } }
    }

    @Test(arguments: 1...400 as ClosedRange<UInt64>)
    func `a disk has nothing that a client was told to be removed, at whatever moment the process is killed`(
        seed: UInt64
    ) {
        var dice = SeededGenerator(seed: seed)
        // Some queues are so small that stores become removals, and removals one of everything.
        let most = [600, 2000, 100_000].randomElement(using: &dice) ?? 600
        var stage = Stage(mostOfStores: most, mostOfAll: most + 400)
        var removals = 0
        for _ in 0..<120 {
            let url = Stage.urls.randomElement(using: &dice) ?? ""
            switch Int.random(in: 0..<20, using: &dice) {
            case 0..<6: stage.store(at: url)
            case 6..<9:
                stage.begin(.url(url), overtakes: true)
                removals += 1
            case 9:
                let selections: [CacheSelection] = [.url(url), .prefix("http://a.test/"), .tag("odd"), .all]
                stage.begin(selections.randomElement(using: &dice) ?? .all, overtakes: false)
                removals += 1
            case 10..<13: stage.addRemoval()
            default: stage.work()
            }
            stage.check()
        }
        while !stage.isIdle {
            stage.addRemoval()
            stage.work()
            stage.check()
        }
        #expect(stage.breaches == [])
        #expect(stage.toldCount == removals && stage.queue.cost == 0)
        for url in Stage.urls { #expect(!stage.queue.removes(url, tags: ["odd", "even"])) }
    }
}
