// SPDX-License-Identifier: Apache-2.0

/// The treatment of a command in a network of its own (`pintle run --isolate`), and of connections that `capture://` takes.
package struct IsolationConfiguration: Sendable, Equatable {
    /// The treatment of captured connections that carry neither TLS nor HTTP, and that no rule `tcp://HOST:PORT` allows.
    package enum OtherTCP: String, Sendable, CaseIterable {
        case allow, deny
    }

    /// True if connections of programs that do not ask the proxy are captured; false if they are refused. Default true.
    package var captures = true
    /// Default `deny`: Pintle cannot read such protocols.
    package var otherTCP = OtherTCP.deny

    package init() {}
}
