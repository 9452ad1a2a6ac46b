// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// The client's half of a handshake that a ``ProbeConnection`` carries, without a socket: bytes in, bytes out.
protocol ProbeDialogue: SendableMetatype {
    /// The end of the dialogue: nil until it is over, then the failure, if it failed.
    var ending: Result<Void, HandshakeFailure>? { get }

    mutating func receive(_ bytes: UnsafeRawBufferPointer)
    /// Ends the dialogue if it is not over: the peer will send no more.
    mutating func receiveEnd()
    /// Returns the bytes that must be sent to the peer; each byte is returned once.
    mutating func takeOutput() -> [UInt8]
}

extension ClientHandshake: ProbeDialogue {
    var ending: Result<Void, HandshakeFailure>? {
        switch self.state {
        case .going: nil
        case .complete: .success(())
        case .failed(let failure): .failure(failure)
        }
    }
}

extension GroupInquiry: ProbeDialogue {
    var ending: Result<Void, HandshakeFailure>? {
        switch self.state {
        case .going: nil
        case .chosen: .success(())
        case .failed(let failure): .failure(failure)
        }
    }
}
