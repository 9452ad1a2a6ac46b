// SPDX-License-Identifier: Apache-2.0

internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// A client of the proxy, as far as limits and logs distinguish clients.
enum Client: Hashable, CustomStringConvertible {
    case address(IPAddress)
    /// The processes of this user, over a Unix socket.
    case user(UInt32)

    /// Nil if the system does not identify the peer.
    init?(_ peer: Listener.Peer) {
        switch peer {
        case .address(let address):
            guard let ip = IPAddress(address) else { return nil }
            self = .address(ip)
        case .user(let number, _): self = .user(number)
        case .unknown: return nil
        }
    }

    /// The address; nil for a client without one.
    var address: IPAddress? { if case .address(let address) = self { address } else { nil } }

    /// The client in the form for sessions. All addresses of an IPv6 /64 are one client, because a client has all of them.
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
