// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleSystem

/// Looks up names for the transfers of all sessions of an engine, off the loops.
///
/// The system's resolver blocks a thread for each name, for many seconds if no server answers, and cannot be
/// interrupted. So the number of threads is bounded, and each client has a limit. Concurrent lookups of one name are
/// joined. Answers are not cached here, but by the diallers.
final class NameLookups: Sendable {
    typealias Answer = Result<[SocketAddress], HostResolver.Failure>
    typealias Completion = @Sendable (Answer) -> Void

    private let table = Locked(LookupTable<Completion>())
    private let threads = ThreadPool(most: LookupTable<Completion>.threads)
    private let lookUp: @Sendable (String) -> Answer

    /// - Parameter lookUp: asks the resolver and blocks the thread.
    init(_ lookUp: @escaping @Sendable (String) -> Answer = NameLookups.askSystem) { self.lookUp = lookUp }

    @Sendable
    private static func askSystem(_ name: String) -> Answer {
        Result { () throws(HostResolver.Failure) in try HostResolver.lookUp(name) }
    }

    /// Looks up a name, or joins the running lookup of it.
    ///
    /// - Parameter completion: called on another thread, unless the lookup is refused.
    /// - Returns: the limit that forbids the lookup, in words; nil if it has begun, or waits for its turn.
    func begin(_ name: String, for client: TransferClient?, completion: @escaping Completion) -> String? {
        switch self.table.withLock({ $0.add(name, for: client, completion) }) {
        case .refused(let limit): return limit
        case .waits: return nil
        case .starts:
            do { try self.threads.run { self.run(name) } } catch {
                self.finish(name, .failure(.unresolved("the system has no thread for it: \(error)")))
            }
            return nil
        }
    }

    /// The number of lookups that run or wait for a thread.
    var count: Int { self.table.withLock { $0.count } }

    /// Looks up one name after another until no name waits for a thread.
    private func run(_ first: String) {
        var next: String? = first
        while let name = next { next = self.finish(name, self.lookUp(name)) }
    }

    @discardableResult
    private func finish(_ name: String, _ answer: Answer) -> String? {
        let (completions, next) = self.table.withLock { $0.finish(name) }
        for completion in completions { completion(answer) }
        return next
    }
}

/// The names that are being looked up, or wait for it, with the client of each.
struct LookupTable<Completion> {
    /// The result of asking for a lookup.
    enum Outcome: Equatable {
        /// The caller must start it on a thread.
        case starts
        case waits
        /// Refused; the text says by which limit.
        case refused(String)
    }

    fileprivate struct Lookup {
        let client: TransferClient?
        var completions: [Completion]
    }

    /// The most lookups at the same time, a thread each.
    static var threads: Int { 64 }
    /// The most lookups of one client, running or waiting; half of the threads, so that it cannot have them all.
    static var mostOfOne: Int { 32 }
    /// The most lookups of all clients together.
    static var mostInAll: Int { 512 }

    private var lookups: [String: Lookup] = [:]
    private var byClient: [TransferClient: Int] = [:]
    private var waiting: [String] = []
    private var running = 0

    var count: Int { self.lookups.count }

    mutating func add(_ name: String, for client: TransferClient?, _ completion: Completion) -> Outcome {
        if self.lookups[name] != nil {
            self.lookups[name]?.completions.append(completion)
            return .waits
        }
        if let client {
            let own = self.byClient[client, default: 0]
            guard own < Self.mostOfOne else {
                return .refused(
                    "\(Self.mostOfOne) names are being looked up for this client, which is the most at a time")
            }
            guard self.lookups.count < Self.mostInAll else {
                return .refused("\(Self.mostInAll) names are being looked up, which is the most at a time")
            }
            self.byClient[client] = own + 1
        }
        self.lookups[name] = Lookup(client: client, completions: [completion])
        guard self.running < Self.threads else {
            self.waiting.append(name)
            return .waits
        }
        self.running += 1
        return .starts
    }

    /// Removes a finished lookup.
    ///
    /// - Returns: the completions that waited for it, and the name that its thread looks up next.
    mutating func finish(_ name: String) -> ([Completion], next: String?) {
        guard let lookup = self.lookups.removeValue(forKey: name) else {
            preconditionFailure("BUG: a lookup has ended that never began")
        }
        if let client = lookup.client, let own = self.byClient[client] {
            self.byClient[client] = own == 1 ? nil : own - 1
        }
        guard !self.waiting.isEmpty else {
            self.running -= 1
            return (lookup.completions, nil)
        }
        return (lookup.completions, self.waiting.removeFirst())
    }
}

extension LookupTable: Sendable where Completion: Sendable {}
extension LookupTable.Lookup: Sendable where Completion: Sendable {}
