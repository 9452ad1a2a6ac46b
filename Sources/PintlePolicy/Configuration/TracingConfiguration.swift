// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The traces of exchanges for OpenTelemetry.
package struct TracingConfiguration: Sendable, Equatable {
    /// The clients whose `traceparent` is continued. The requests of others begin new traces: a stranger could otherwise choose
    /// what is sampled, and put its requests into the traces of other clients.
    package enum Continuation: Sendable, Equatable {
        /// None.
        case off
        /// Users of `clients.basic_auth`; without such users, clients of this machine.
        case trusted
        /// Clients that connect from these networks.
        case networks([CIDR])
    }

    /// The URL to which spans are posted.
    package var receiver: HTTPURL
    /// The fraction of new traces that is recorded, 0…1. Default all.
    package var sample = 1.0
    /// The clients whose traces are continued. Default `trusted`.
    package var continuation = Continuation.trusted

    package init(receiver: HTTPURL) { self.receiver = receiver }
}
