// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import PintleMessage

// Connections that are kept for later requests, and what comes on them in between.
extension TransferPool {
    /// A transfer goes over a socket now.
    func noteUser(of index: Int, _ easy: UnsafeMutableRawPointer?) {
        guard let easy, let transfer = Self.transfer(of: easy) else { return }
        transfer.usedSocket = Int32(index)
        self.descriptors[index].user = ObjectIdentifier(transfer)
        self.descriptors[index].isIdle = false
    }

    /// The connection of a transfer that is over may be kept.
    func retire(_ transfer: Transfer) {
        guard let socket = transfer.usedSocket else { return }
        transfer.usedSocket = nil
        // Others may share a connection of HTTP/2, and frames come on it at any time.
        guard !self.onlyConnects, transfer.hasResponse, transfer.responseVersion != "2" else { return }
        let known = self.descriptors[Int(socket)]
        guard known.isOurs, known.user == ObjectIdentifier(transfer), known.wanted == 0 else { return }
        self.descriptors[Int(socket)].isIdle = true
    }

    /// A transfer is going to send its request from `port`, over a connection of HTTP/1.1. What has come on a kept one
    /// already is no answer to it, but libcurl 7.88 would take it for one.
    ///
    /// - Returns: whether the connection was spoilt, so that the request cannot be sent over it.
    func spoilsConnection(of transfer: Transfer, from port: UInt16) -> Bool {
        guard !self.onlyConnects else { return false }
        // libcurl has said over which socket it goes only where the connection is new.
        if let last = transfer.usedSocket {
            guard let socket = self.socket(of: transfer, at: port, likely: last) else { return false }
            transfer.usedSocket = socket
            if self.descriptors[Int(socket)].port == nil {
                self.descriptors[Int(socket)].port = port
                self.sockets[port, default: []].append(socket)
            }
            return false
        }
        var isSpoilt = false
        for socket in self.sockets[port] ?? [] where self.descriptors[Int(socket)].wanted == 0 {
            // From here on it is this transfer's: one that is paused at once wants nothing of its socket either.
            self.descriptors[Int(socket)].user = ObjectIdentifier(transfer)
            self.descriptors[Int(socket)].isIdle = false
            guard KeptSocket.hasBytes(socket) else { continue }
            KeptSocket.spoil(socket)
            isSpoilt = true
        }
        return isSpoilt
    }

    /// The socket of a transfer that has this port. Of several that were tried the last one need not be the one that was
    /// connected first (RFC 8305).
    private func socket(of transfer: Transfer, at port: UInt16, likely: Int32) -> Int32? {
        if KeptSocket.port(of: likely) == port { return likely }
        let index = self.descriptors.indices.first { index in
            self.descriptors[index].isOurs && self.descriptors[index].user == ObjectIdentifier(transfer)
                && KeptSocket.port(of: Int32(index)) == port
        }
        return index.map { Int32($0) }
    }

    /// A socket is closed.
    func forgetPort(of socket: Int32, _ known: Descriptor) {
        guard let port = known.port else { return }
        let others = self.sockets[port]?.filter { $0 != socket } ?? []
        self.sockets[port] = others.isEmpty ? nil : others
    }
}
