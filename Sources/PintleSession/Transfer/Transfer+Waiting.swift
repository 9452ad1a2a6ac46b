// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import NIOCore
internal import PintleLoop
internal import PintleMessage

// The time before libcurl has the transfer, or has it again.
extension Transfer {
    /// What is waited for.
    enum Wait {
        /// One of so many connections that a host may have.
        case connection(limit: Int)
        /// The addresses of the host's name.
        case addresses(ticket: UInt64)
    }

    /// What is known of the waiting of one request.
    struct Waiting {
        /// Nil while libcurl has the transfer, or needs not have it.
        var what: Wait?
        var since = NIODeadline.uptimeNanoseconds(0)
        var connectDeadline = NIODeadline.uptimeNanoseconds(0)
        /// The host among whose connections this one counts; nil where it does not.
        var countedHost: Authority?
        /// What libcurl wanted to look up.
        var wantedName: String?
        var hasAddresses = false
        /// How long the addresses were waited for.
        var lookupTime = TimeAmount.zero
    }

    func wait(for what: Wait) {
        self.waiting.what = what
        self.waiting.since = self.pool.loop.turnTime
        // A connection that was kept and then found dead has used up time that connecting does not count.
        if case .addresses = what, self.attempts > 0 {
            self.waiting.connectDeadline = self.waiting.since + self.errand.connectTimeout
        }
        if let deadline = self.waitDeadline { self.armSilence(at: deadline) }
    }

    func stopWaiting() {
        let waited = self.pool.loop.turnTime - self.waiting.since
        switch self.waiting.what {
        case .connection:
            if !self.errand.limitsWaiting {
                self.waiting.connectDeadline = self.pool.loop.turnTime + self.errand.connectTimeout
            }
        case .addresses: self.waiting.lookupTime = self.waiting.lookupTime + waited
        case nil: preconditionFailure("BUG: a transfer does not wait that is told to go on")
        }
        self.waiting.what = nil
        self.easy.limitConnecting(to: max(.milliseconds(1), self.waiting.connectDeadline - self.pool.loop.turnTime))
    }

    /// Gives up waiting, if there was any.
    func forgetWaiting() {
        if case .addresses(let ticket) = self.waiting.what { self.pool.forgetLookup(ticket) }
        self.waiting.what = nil
    }

    /// When waiting has lasted too long; nil where it may last as long as it takes.
    var waitDeadline: NIODeadline? {
        switch self.waiting.what {
        case .connection where !self.errand.limitsWaiting: nil
        case .connection, .addresses: self.waiting.connectDeadline
        case nil: nil
        }
    }

    /// Waiting has lasted too long.
    func failToWait() {
        let limit = self.errand.connectTimeout.inWords
        switch self.waiting.what {
        case .connection(let count):
            self.fail(
                .overloaded,
                "none of the \(count) connections to \(self.errand.connectionHost) that connections_per_host allows "
                    + "became free within \(limit)")
        case .addresses: self.fail(.dnsFailure, "\(self.errand.dialledHost) has no address within \(limit)")
        case nil: preconditionFailure("BUG: a transfer that does not wait has waited for too long")
        }
    }

    /// libcurl is about to look the host's name up, in a thread of its own.
    ///
    /// - Returns: whether it need not: such names are never looked up.
    func mayResolve() -> Bool {
        let name = self.errand.dialledName
        let isLocal = name == "localhost" || name.hasSuffix(".localhost")
        if isLocal || (try? SocketAddress(ipAddress: name, port: 0)) != nil { return true }
        // A second time it would be asked for what it was given.
        if !self.waiting.hasAddresses { self.waiting.wantedName = name }
        return false
    }

    /// Has libcurl dial these addresses of the host's name.
    ///
    /// - Returns: whether it understands them.
    func use(_ addresses: [SocketAddress]) -> Bool {
        self.waiting.hasAddresses = true
        return self.easy.use(addresses, of: self.errand.dialledName, port: self.errand.dialledPort)
    }
}

extension Errand {
    /// The host to whose connections that of this request belongs: a proxy's where it forwards, as libcurl sees it.
    var connectionHost: Authority {
        guard let server = self.proxy?.server, server.forwards, self.scheme == .http else { return self.authority }
        return server.authority
    }

    /// Whose name is looked up.
    var dialledName: String { self.proxy?.server.authority.host ?? self.authority.host }
    var dialledPort: UInt16 { self.proxy?.server.authority.port ?? self.authority.port }

    /// The same in a sentence.
    var dialledHost: String {
        self.proxy.map { "the proxy \($0.server.authority.host)" } ?? "the host \(self.authority.host)"
    }
}
