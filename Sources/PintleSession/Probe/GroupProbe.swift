// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleLoop
package import PintleTrust

/// One question to one address, by a connection of its own: which of these groups does the server support for the key
/// exchange of TLS 1.3?
package struct GroupProbe: Sendable {
    /// The address to connect to. The caller must have checked that it may be dialled.
    package var address: SocketAddress
    /// The name that is sent to the server (SNI), unless it is an address.
    package var host: String
    /// The groups that are offered; at least one.
    package var groups: [PostQuantumGroup]
    /// The time limit for connecting and the answer together.
    package var timeLimit: Duration

    package init(address: SocketAddress, host: String, groups: [PostQuantumGroup], timeLimit: Duration) {
        self.address = address
        self.host = host
        self.groups = groups
        self.timeLimit = timeLimit
    }

    /// Connects and asks on `loop`, without blocking it.
    ///
    /// - Returns: the group that the server asks for, or the reason why there is no answer. A server that supports none of the
    ///   groups ends the handshake, with an alert as a rule.
    package func run(on loop: Loop) async -> Result<PostQuantumGroup, ProbeFailure> {
        let connection = ProbeConnection(
            ProbeDial(address: self.address, timeLimit: self.timeLimit), loop: loop
        ) {
            var generator = SystemRandomNumberGenerator()
            return GroupInquiry(host: self.host, groups: self.groups, using: &generator)
        }
        return await connection.run { end in
            if let failure = end.failure { return .failure(failure) }
            guard case .chosen(let group)? = end.dialogue?.state else {
                preconditionFailure("BUG: a question for groups is over without a failure or an answer")
            }
            return .success(group)
        }
    }
}
