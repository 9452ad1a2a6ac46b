// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleWatch

/// The trace of an exchange. Without `tracing` in the configuration nothing here does anything.
extension ExchangeReport {
    /// Continues the client's trace, or begins a new one; does nothing if that was done before, or if traces are off. Called
    /// before the fields of the request are moved.
    func beginTrace(in active: ActiveConfiguration) {
        // Traces are off, or the plan of a redirect is noted.
        guard let tracing = active.tracing, !self.isTraced else { return }
        let isBelieved = tracing.configuration.continuation.includes(
            self.client, user: self.identity.user, hasUsers: active.policy.configuration.clients.basicAuth != nil)
        var generator = SystemRandomNumberGenerator()
        self.trace = ExchangeTrace(
            self.request.head, continues: isBelieved, sampling: tracing.sampling, using: &generator)
        self.isTraced = true
    }

    /// Puts the client into a request to an origin, and the context of its CLIENT span. A route whose rules name `traceparent`
    /// decides about that itself, and a tunnel has none.
    func identify(_ request: inout TransferRequest, of route: Route?) {
        request.client = self.client?.forTransfers
        // Traces are off, or no request of HTTP is sent.
        guard self.isTraced, !request.connectOnly else { return }
        if route?.configuration.request.headers.names(TraceParent.field) != true {
            self.trace?.fill(&request.fields)
        }
        let url = HTTPURL(scheme: request.scheme, authority: request.authority, path: request.path)
        let start = self.trace?.sent?.start ?? self.timeSinceStart
        self.trace?.sent = ExchangeTrace.Sent(method: request.method, url: url, start: start)
    }

    /// Records that the origin has answered, or has failed to; does nothing if traces are off.
    func noteOriginEnd() {
        if self.isTraced, self.trace?.sent != nil { self.trace?.originEnd = self.timeSinceStart }
    }

    /// Completes the trace at the end of the exchange.
    func endTrace(in active: ActiveConfiguration) {
        self.beginTrace(in: active)
        if self.isTraced { self.trace?.problem = self.problem?.rawValue }
    }

    private var timeSinceStart: Duration { .nanoseconds((NIODeadline.now() - self.start).nanoseconds) }
}

/// The rules for traces, made ready for use.
struct TraceRules {
    let configuration: TracingConfiguration
    let sampling: TraceSampling

    init(_ configuration: TracingConfiguration) {
        (self.configuration, self.sampling) = (configuration, TraceSampling(configuration.sample))
    }
}

extension TracingConfiguration.Continuation {
    /// True if the client's trace is continued.
    ///
    /// - Parameters:
    ///   - user: the user of `clients.basic_auth` that the client has proved to be.
    ///   - hasUsers: true if there are such users.
    func includes(_ client: Client?, user: String?, hasUsers: Bool) -> Bool {
        switch (self, client) {
        case (.off, _): false
        case (.trusted, _) where hasUsers: user != nil
        case (.trusted, .address(let address)): address.isLoopback
        case (.trusted, .user): true
        case (.networks(let networks), .address(let address)): networks.contains { $0.contains(address) }
        case (.networks, .user), (_, nil): false
        }
    }
}

extension HeaderRules {
    /// True if a rule is about the field.
    fileprivate func names(_ name: String) -> Bool {
        let isMeant = { (other: String) in other.lowercased() == name }
        return self.remove.contains(where: isMeant)
            || [self.defaults, self.set, self.add].contains { $0.contains { isMeant($0.name) } }
    }
}
