// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
package import PintleLoop
package import PintleTrust

/// Carries the bytes of a connection in TLS: to the origin, to an https proxy, or to the origin inside the TLS of the proxy.
final class TLSClientTransport: StreamTransport {
    private let connection: TLSConnection
    private let descriptor: Int32
    private(set) var shutdownNeeds: Readiness?

    /// - Parameters:
    ///   - connection: must be established.
    ///   - descriptor: must be connected and non-blocking; ``close()`` closes it.
    init(_ connection: TLSConnection, descriptor: Int32) {
        self.connection = connection
        self.descriptor = descriptor
    }

    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        StreamOutcome(self.connection.read(into: space))
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome {
        StreamOutcome(self.connection.write(bytes))
    }

    func shutdownOutput() {
        self.shutdownNeeds = nil
        if self.connection.finishOutput() == .wantsWrite {
            self.shutdownNeeds = .write
        } else {
            shutdown(self.descriptor, Int32(SHUT_WR))
        }
    }

    func close() { Glibc.close(self.descriptor) }
}

extension StreamOutcome {
    package init(_ outcome: TLSConnection.Outcome) {
        switch outcome {
        case .bytes(let count): self = .bytes(count)
        case .end: self = .end
        case .wantsRead: self = .wouldBlock(until: .read)
        case .wantsWrite: self = .wouldBlock(until: .write)
        // Does not depend on the descriptor; the channel is notified when it can continue.
        case .wantsIdentity: self = .wouldBlock(until: [])
        case .failed(let failure): self = .failed(failure)
        }
    }
}
