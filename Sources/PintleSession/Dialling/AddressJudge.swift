// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage

/// Decides if an address may be dialled; asked after resolution, with the very address that would be dialled.
public protocol AddressJudge: Sendable {
    /// Returns nil to allow `address` for `host`, or a few words that say why it is refused.
    func refusal(dialling address: SocketAddress, asked host: Authority) -> String?

    /// Decides about the address of a proxy for a request to `host`. By default it is judged like an address of `host`.
    func refusal(diallingProxy address: SocketAddress, asked host: Authority) -> String?
}

/// The reason why an address may not be dialled.
package struct AddressRefusal: Sendable {
    /// A few words, for the message of the error.
    package let reason: String
    /// Becomes ``SessionError/underlying`` if no address of the host may be dialled.
    package let cause: (any Error)?

    package init(_ reason: String, cause: (any Error)? = nil) { (self.reason, self.cause) = (reason, cause) }
}

/// A judge with rules for certain clients, which tells the cause of a refusal as a value, too.
package protocol ClientAddressJudge: AddressJudge {
    /// Decides about an address for a client with these rights; nil allows it.
    func refusal(dialling address: SocketAddress, asked host: Authority, by client: ClientRights) -> AddressRefusal?
}

extension ClientAddressJudge {
    /// Judges the address for a client for which no rule for certain clients holds.
    package func refusal(dialling address: SocketAddress, asked host: Authority) -> String? {
        self.refusal(dialling: address, asked: host, by: .none)?.reason
    }
}

extension AddressJudge {
    /// Judges the proxy's address as one of `host`.
    public func refusal(diallingProxy address: SocketAddress, asked host: Authority) -> String? {
        self.refusal(dialling: address, asked: host)
    }
}
