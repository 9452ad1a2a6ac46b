// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// An event of a command's process, as reported by the kernel.
struct Sighting: Equatable {
    enum Kind: Equatable {
        /// The process connects, or tries to.
        case connect(SocketTable.Endpoint)
        case listen(SocketTable.Endpoint)
        /// The process has a new name.
        case name(String)
        /// The process was started by this parent.
        case fork(parent: UInt32)
        case exit
        /// Some events were lost.
        case loss
    }

    /// Time in nanoseconds.
    let time: UInt64
    let process: UInt32
    let kind: Kind
}

/// Finds connections past the proxy in all events, with the names of their programs.
struct ConnectLog {
    private struct Attempt: Hashable {
        let remote: SocketTable.Endpoint
        let program: String
    }

    private let proxy: SocketTable.Endpoint
    private var names: [UInt32: String] = [:]
    private var attempts: Set<Attempt> = []
    private var more = 0
    private var servers: Set<SocketTable.Endpoint> = []
    /// False once an event was lost.
    private(set) var isWhole = true

    /// The maximum number of connections to list; further ones are only counted.
    static let most = 200
    private static let mostAttempts = 4096
    private static let mostNames = 1 << 16

    init(proxy: SocketTable.Endpoint) { self.proxy = proxy }

    /// Adds the events of all processors since the last call, in any order.
    mutating func add(_ sightings: [Sighting]) {
        for sighting in sightings.sorted(by: { $0.time < $1.time }) { self.add(sighting) }
    }

    private mutating func add(_ sighting: Sighting) {
        switch sighting.kind {
        case .connect(let remote): self.connects(sighting.process, to: remote)
        case .listen(let local):
            if self.servers.count < Self.mostAttempts { self.servers.insert(local) } else { self.isWhole = false }
        case .name(let name):
            if self.names.count < Self.mostNames { self.names[sighting.process] = name }
        case .fork(let parent):
            if self.names.count < Self.mostNames { self.names[sighting.process] = self.names[parent] }
        case .exit: self.names[sighting.process] = nil
        case .loss: self.isWhole = false
        }
    }

    private mutating func connects(_ process: UInt32, to remote: SocketTable.Endpoint) {
        guard remote != self.proxy, remote.port > 0 else { return }
        let attempt = Attempt(remote: remote, program: self.names[process] ?? "?")
        if self.attempts.contains(attempt) { return }
        if self.attempts.count < Self.mostAttempts { self.attempts.insert(attempt) } else { self.more += 1 }
    }

    /// The connections to other destinations than the proxy and the command's own servers, and the number of those that are
    /// not listed.
    ///
    /// A server counts no matter when it began to listen: a client may try to connect to it earlier.
    var result: (found: [PastConnection], more: Int) {
        let ports = Set(self.servers.map(\.port))
        let past = self.attempts.filter { attempt in
            let remote = attempt.remote
            // The server may listen on every address, or on the other address of localhost.
            return !self.servers.contains(remote) && !(remote.address.isLoopback && ports.contains(remote.port))
        }
        let found = past.map { PastConnection(remote: "\($0.remote)", program: $0.program) }.sorted()
        return (Array(found.prefix(Self.most)), self.more + max(0, found.count - Self.most))
    }
}
