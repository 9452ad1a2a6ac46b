// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
package import PintleLoop
package import PintleTrust

/// Carries the bytes of a connection in TLS: to the origin, to an https proxy, or to the origin inside of the proxy's.
final class TLSClientTransport: StreamTransport {
    private let connection: TLSConnection
    private let descriptor: Int32
    private(set) var shutdownNeeds: Readiness?

    /// - Parameters:
    ///   - connection: established.
    ///   - descriptor: connected and non-blocking; it is closed by ``close()``.
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
        // The descriptor has nothing to do with it; the channel is told when it can go on.
        case .wantsIdentity: self = .wouldBlock(until: [])
        case .failed(let failure): self = .failed(failure)
        }
    }
}
