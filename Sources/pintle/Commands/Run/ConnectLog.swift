// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// One thing that the kernel has told of a command's processes.
struct Sighting: Equatable {
    enum Kind: Equatable {
        /// It connects, or tries to.
        case connect(SocketTable.Endpoint)
        case listen(SocketTable.Endpoint)
        /// It is called so from now on.
        case name(String)
        /// It was started by this process.
        case fork(parent: UInt32)
        case exit
        /// Something was not noted.
        case loss
    }

    /// In nanoseconds.
    let time: UInt64
    let process: UInt32
    let kind: Kind
}

/// Tells connections past the proxy by all that was seen, with the names of their programs.
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
    /// False once something was lost.
    private(set) var isWhole = true

    /// The most that are told; more are counted.
    static let most = 200
    private static let mostAttempts = 4096
    private static let mostNames = 1 << 16

    init(proxy: SocketTable.Endpoint) { self.proxy = proxy }

    /// Adds what was seen on all processors since the last time, in any order.
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

    /// The connections to others than the proxy and the command's own servers, and how many more.
    ///
    /// Servers count whenever they began to listen: who waits for one may try to connect before that.
    var result: (found: [PastConnection], more: Int) {
        let ports = Set(self.servers.map(\.port))
        let past = self.attempts.filter { attempt in
            let remote = attempt.remote
            // The server may listen on every address, or on the other one of localhost.
            return !self.servers.contains(remote) && !(remote.address.isLoopback && ports.contains(remote.port))
        }
        let found = past.map { PastConnection(remote: "\($0.remote)", program: $0.program) }.sorted()
        return (Array(found.prefix(Self.most)), self.more + max(0, found.count - Self.most))
    }
}
