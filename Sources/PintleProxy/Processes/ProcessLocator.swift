// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleActivity
internal import PintleLoop
internal import PintleSystem

/// Finds the processes that hold the clients' ends of connections.
///
/// The kernel tells the inode of a socket, and /proc (proc_pid_fd(5)) which process has a descriptor of it. Processes of other users
/// can be read only by root.
struct ProcessLocator: Sendable {
    /// The processes that were found last, the latest first. They are looked at first, since programs connect again.
    private var recent: [Int32] = []
    /// Asks for sockets of another network; nil for this process's own.
    private let diagnosis: SocketQuery?

    private static let mostRecent = 32
    /// The most descriptors of one process that are looked at, so that one with very many does not hide the others.
    private static let mostOfProcess = 16_384
    /// The most descriptors that are looked at in one pass; some 0.2 s.
    private static let mostOfPass = 65_536

    init(diagnosis: SocketQuery? = nil) { self.diagnosis = diagnosis }

    /// Returns the outcome for each connection, after one pass over the processes for all.
    mutating func locate(_ traces: [ClientProcess.Trace]) -> [ProcessSearch.Outcome] {
        var outcomes = [ProcessSearch.Outcome](repeating: .missing, count: traces.count)
        var wanted: [UInt64: Int] = [:]
        // Made for this pass only, so that an idle proxy keeps no descriptor for it.
        var query: SocketQuery?
        for (index, trace) in traces.enumerated() {
            switch trace {
            case .process(let number):
                if let process = Self.describe(number) { outcomes[index] = .found(process) }
            case .connection(let client, let proxy):
                query = query ?? self.diagnosis ?? SocketQuery()
                guard let query else {
                    outcomes[index] = .dropped
                    continue
                }
                if let inode = query.inode(ofSocketAt: client, connectedTo: proxy) { wanted[inode] = index }
            }
        }
        let unseen = self.visit(&wanted) { outcomes[$0] = .found($1) }
        if unseen { for index in wanted.values { outcomes[index] = .dropped } }
        return outcomes
    }

    /// Looks through the processes until every socket is found.
    ///
    /// - Returns: true if the pass was ended by its limit.
    private mutating func visit(
        _ wanted: inout [UInt64: Int], _ found: (_ index: Int, ExchangeRecord.Process) -> Void
    ) -> Bool {
        var left = Self.mostOfPass
        let known = self.recent
        // Most recent processes have the highest numbers.
        lazy var others = FolderListing.names(in: "/proc", most: .max).compactMap { Int32($0) }.sorted(by: >)
        for number in known where !wanted.isEmpty { left -= self.search(number, &wanted, found) }
        if wanted.isEmpty { return false }
        let own = getpid()
        for number in others where number != own && !known.contains(number) {
            guard left > 0 else { return true }
            left -= self.search(number, &wanted, found)
            if wanted.isEmpty { return false }
        }
        return false
    }

    /// Looks through one process.
    ///
    /// - Returns: the number of its descriptors.
    private mutating func search(
        _ number: Int32, _ wanted: inout [UInt64: Int], _ found: (_ index: Int, ExchangeRecord.Process) -> Void
    ) -> Int {
        var process: ExchangeRecord.Process?
        let count = ProcessFiles.forEachSocket(of: number, most: Self.mostOfProcess) { inode in
            guard let index = wanted[inode] else { return true }
            if process == nil { process = Self.describe(number) }
            // It has ended in between.
            guard let process else { return false }
            wanted[inode] = nil
            found(index, process)
            return !wanted.isEmpty
        }
        if process != nil, self.recent.first != number {
            self.recent.removeAll { $0 == number }
            self.recent.insert(number, at: 0)
            self.recent = Array(self.recent.prefix(Self.mostRecent))
        }
        return count
    }

    private static func describe(_ number: Int32) -> ExchangeRecord.Process? {
        ProcessFiles.name(of: number).map { ExchangeRecord.Process(name: $0, number: number) }
    }
}
