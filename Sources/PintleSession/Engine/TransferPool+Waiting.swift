// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import NIOCore
internal import PintleLoop
internal import PintleMessage

// What transfers wait for before libcurl has them: one of the connections to their host, and the addresses of its name.
extension TransferPool {
    /// The connections that requests share, and who waits for one.
    struct Sharing {
        var hosts: [Authority: HostConnections<ObjectIdentifier>] = [:]
        /// Hosts that speak HTTP/2, where one connection is enough for many transfers.
        var multiplexed: Set<Authority> = []
        /// Transfers that wait for addresses, by the numbers of their lookups.
        var lookups: [UInt64: Transfer] = [:]
        var lastLookup: UInt64 = 0
    }

    /// libcurl's limit is above ours, so that nobody waits there, where waiting has no limit.
    var libcurlsLimit: Int {
        let limit = self.configuration.connectionsPerHost
        return self.countsConnections ? limit + limit / 2 : limit
    }

    private var countsConnections: Bool {
        !self.onlyConnects && self.configuration.connectionsPerHost > 0 && self.configuration.httpVersion != .http2
    }

    // MARK: Connections

    /// Whether there is a connection for a transfer, or need be none of its own; it waits for one otherwise.
    func takeConnection(for transfer: Transfer) -> Bool {
        let host = transfer.errand.connectionHost
        guard self.countsConnections, !self.sharing.multiplexed.contains(host) else { return true }
        let limit = self.configuration.connectionsPerHost
        let ticket = ObjectIdentifier(transfer)
        transfer.waiting.countedHost = host
        if self.sharing.hosts[host, default: HostConnections(limit: limit)].take(ticket, for: transfer.errand.client) {
            return true
        }
        transfer.wait(for: .connection(limit: limit))
        return false
    }

    /// A transfer is over: who waits for its connection has it next.
    func giveBackConnection(of transfer: Transfer) {
        guard let host = transfer.waiting.countedHost else { return }
        transfer.waiting.countedHost = nil
        if case .connection = transfer.waiting.what {
            self.sharing.hosts[host]?.remove(ObjectIdentifier(transfer))
            return
        }
        guard let next = self.sharing.hosts[host]?.giveBack(of: transfer.errand.client) else {
            preconditionFailure("BUG: a connection is given back to a host that nobody has asked")
        }
        if self.sharing.hosts[host]?.isUnused == true { self.sharing.hosts[host] = nil }
        self.begin(next)
    }

    /// The connection of a transfer turns out to be one of HTTP/2, or not to be.
    func noteVersion(of transfer: Transfer, isHTTP2: Bool) {
        let host = transfer.errand.connectionHost
        guard self.countsConnections, self.sharing.multiplexed.contains(host) != isHTTP2 else { return }
        guard isHTTP2 else {
            self.sharing.multiplexed.remove(host)
            return
        }
        if self.sharing.multiplexed.count >= Self.rememberedHosts { self.sharing.multiplexed.removeAll() }
        self.sharing.multiplexed.insert(host)
        self.whenOutsideLibcurl { [self] in self.begin(self.sharing.hosts[host]?.giveToAll() ?? []) }
    }

    private func begin(_ tickets: [ObjectIdentifier]) {
        for ticket in tickets {
            // It stays in the list until its delegate is gone.
            guard let transfer = self.transfer(ticket) else {
                preconditionFailure("BUG: a transfer that is over waits for a connection")
            }
            transfer.stopWaiting()
            if transfer.isRunning { self.add(transfer) }
        }
    }

    // MARK: Names

    /// libcurl needs the addresses of a name, and was told that there are none; it is given them when they are there.
    func lookUp(_ name: String, for transfer: Transfer) {
        self.remove(transfer)
        self.sharing.lastLookup += 1
        let ticket = self.sharing.lastLookup
        self.sharing.lookups[ticket] = transfer
        transfer.wait(for: .addresses(ticket: ticket))
        let refusal = self.names.begin(name, for: transfer.errand.client) { [loop = self.loop, weak self] answer in
            loop.execute { [weak self] in self?.found(answer, ticket) }
        }
        if let refusal {
            transfer.fail(.overloaded, "\(transfer.errand.authority) cannot be looked up now: \(refusal)")
        }
    }

    private func found(_ answer: NameLookups.Answer, _ ticket: UInt64) {
        // It was cancelled, or out of time.
        guard let transfer = self.sharing.lookups.removeValue(forKey: ticket) else { return }
        transfer.stopWaiting()
        switch answer {
        case .success(let addresses) where !addresses.isEmpty && transfer.use(addresses): self.add(transfer)
        case .success: transfer.fail(.dnsFailure, "\(transfer.errand.dialledHost) has no address")
        case .failure(let failure):
            transfer.fail(.dnsFailure, "\(transfer.errand.dialledHost) has no address", cause: "\(failure)")
        }
    }

    /// Nobody waits for the addresses any more.
    func forgetLookup(_ ticket: UInt64) { self.sharing.lookups[ticket] = nil }
}
