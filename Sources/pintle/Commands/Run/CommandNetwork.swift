// SPDX-License-Identifier: Apache-2.0

internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleStub
internal import PintleSystem

/// The network of a command's own, seen from outside: its sockets, and the names that its programs have looked up.
struct CommandNetwork: Sendable {
    /// The sockets for the proxy.
    let sockets: CapturedSockets
    private let names = CapturedNames()
    private let policy: Policy
    private let resolvers: (udp: [Int32], tcp: [Int32])

    /// Takes over the sockets of a child, but for its listener.
    init(_ child: Child, _ policy: Policy) {
        self.policy = policy
        self.resolvers = child.resolvers
        self.sockets = CapturedSockets(
            listeners: child.captures, diagnosis: child.diagnosis.map(SocketQuery.init(adopting:))
        ) { [names] address in
            if let name = names.name(of: address) { return .name(name) }
            // A connection to the loopback that arrives here was made to the listener itself. The machine's is another one.
            let isOfNetwork = CapturedNetwork.contains(address) || address.isLoopback || address.isUnspecified
            return isOfNetwork ? .noName : .address
        }
    }

    /// Answers the programs' questions for names.
    ///
    /// - Parameter tell: called with each name that may not be looked up, and the rule that says so.
    func answerNames(
        _ tell: @escaping @Sendable (_ name: String, _ reason: String) -> Void, in lifecycle: Lifecycle
    ) throws(CommandFailure) {
        let resolver: StubResolver
        do throws(SystemError) {
            resolver = try StubResolver(
                datagrams: self.resolvers.udp, listeners: self.resolvers.tcp, names: self.names,
                judge: { [policy] name in policy.denial(ofName: name) == nil },
                denied: { [policy] name in tell(name, policy.denial(ofName: name) ?? "the policy") })
        } catch {
            throw CommandFailure(.incomplete, "pintle run: names cannot be answered in the command's network: \(error)")
        }
        try lifecycle.started(.resolver) { resolver.end() }
    }
}
