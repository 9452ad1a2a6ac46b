// SPDX-License-Identifier: Apache-2.0

internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// Who uses the proxy, as far as limits and logs tell clients apart.
enum Client: Hashable, CustomStringConvertible {
    case address(IPAddress)
    /// Processes of this user, over a Unix socket.
    case user(UInt32)

    /// Nil where the system does not say.
    init?(_ peer: Listener.Peer) {
        switch peer {
        case .address(let address):
            guard let ip = IPAddress(address) else { return nil }
            self = .address(ip)
        case .user(let number): self = .user(number)
        case .unknown: return nil
        }
    }

    /// The client as sessions tell clients apart. Whoever has an IPv6 address has all of its /64.
    var forTransfers: TransferClient {
        switch self {
        case .address(let address):
            address.family == .v4 ? TransferClient(0, address.low) : TransferClient(address.high, 0)
        case .user(let number): TransferClient(UInt64.max, UInt64(number))
        }
    }

    /// `192.0.2.1`, or `unix:1000` with the user's number.
    var description: String {
        switch self {
        case .address(let address): "\(address)"
        case .user(let number): "unix:\(number)"
        }
    }
}
