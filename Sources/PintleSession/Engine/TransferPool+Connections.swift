// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl

// Transfers that only make a connection, and the connections of theirs that libcurl keeps.
extension TransferPool {
    /// The pool that they run in: one like this, with a multi handle of its own.
    ///
    /// In this pool's handle such connections would count for its limits although requests cannot use them: some dozens to
    /// one host, and every other request there would wait until one closes.
    func poolForConnections() -> TransferPool {
        if let connecting { return connecting }
        var configuration = self.configuration
        // Who gets the connection speaks HTTP/1.1 on it, or something else altogether.
        configuration.httpVersion = .http1
        configuration.connectionsPerHost = 0
        // It would close the connection at once if it kept none.
        configuration.idleConnections = Self.keptConnections
        let pool = TransferPool(
            loop: self.loop, configuration: configuration, evaluator: self.evaluator, handshake: self.handshake,
            cookieJar: nil, judge: self.judge, proxy: self.proxy, names: self.names, onlyConnects: true)
        self.connecting = pool
        return pool
    }

    /// More than there are descriptors.
    private static let keptConnections = 1 << 30

    /// A connection stays with its transfer.
    func keep(_ stream: ConnectionStream, of transfer: Transfer) {
        self.streams[ObjectIdentifier(transfer)] = WeakStream(stream: stream)
    }

    /// Closes the connection that stayed with a transfer, and lets both go.
    func closeStream(of transfer: Transfer?) {
        guard let transfer else { return }
        self.whenOutsideLibcurl { [self] in
            self.remove(transfer)
            self.streams[ObjectIdentifier(transfer)] = nil
            self.cleanUpIfOver()
        }
    }
}

/// A stream belongs to its channel; the pool only has to find it.
struct WeakStream {
    weak var stream: ConnectionStream?
}
