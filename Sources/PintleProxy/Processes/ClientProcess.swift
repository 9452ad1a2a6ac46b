// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSystem
internal import Synchronization

/// The process at the other end of a client's connection, on this machine. It is searched for at most once, on another thread.
///
/// Exchanges keep this object, so that one that has ended also shows a process that was found later.
final class ClientProcess: Sendable {
    /// The properties of a connection by which its process is found.
    enum Trace: Hashable, Sendable {
        /// A TCP connection between the client and this proxy, as the client's socket has it.
        case connection(client: SocketAddress, proxy: SocketAddress)
        /// A Unix socket: the number of the process, as the kernel has recorded it.
        case process(Int32)
    }

    private enum State: Sendable {
        case untried(Trace)
        case searching
        case known(ExchangeRecord.Process)
    }

    private let state: Locked<State>
    /// True once it was searched for. Every exchange of the connection asks, and so takes no lock.
    private let isSought = Atomic(false)

    init(_ trace: Trace) { self.state = Locked(.untried(trace)) }

    /// Nil for a client that is not known to be on this machine.
    ///
    /// - Parameters:
    ///   - descriptor: the connection.
    ///   - isOfCommand: true if the client is in the network of a command, which is on this machine.
    convenience init?(_ peer: Listener.Peer, over descriptor: Int32, isOfCommand: Bool = false) {
        switch peer {
        case .user(_, let process): self.init(.process(process))
        case .address(let address):
            guard isOfCommand || IPAddress(address)?.isLoopback == true,
                let own = isOfCommand ? SocketAddress(redirectedFrom: descriptor) : SocketAddress(boundTo: descriptor)
            else { return nil }
            self.init(.connection(client: address, proxy: own))
        case .unknown: return nil
        }
    }

    /// Nil as long as the process is not known. It may have ended, or belong to another user.
    var found: ExchangeRecord.Process? {
        self.state.withLock { if case .known(let process) = $0 { process } else { nil } }
    }

    /// Searches for the process, unless that was done before.
    func seek(by search: ProcessSearch) {
        if self.isSought.load(ordering: .relaxed) { return }
        self.isSought.store(true, ordering: .relaxed)
        let trace = self.state.withLock { state -> Trace? in
            guard case .untried(let trace) = state else { return nil }
            state = .searching
            return trace
        }
        if let trace { search.find(trace, for: self) }
    }

    /// Records the process that was found. Called by the search.
    func known(_ process: ExchangeRecord.Process) { self.state.withLock { $0 = .known(process) } }
}
