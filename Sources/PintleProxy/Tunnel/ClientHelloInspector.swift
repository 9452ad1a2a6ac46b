// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleTrust

/// Holds back the first bytes of a tunnel's client, until they prove not to be TLS, or to be a handshake with the server to
/// which the tunnel was opened (`destinations.require_sni_match`). If that rule only reports, the bytes pass at once.
struct ClientHelloInspector {
    /// The result for some bytes.
    enum Inspection {
        /// The bytes are held back.
        case held
        /// The bytes pass, together with those held back.
        case passed(ByteBuffer)
        /// The bytes pass; with the reason why they would be dropped.
        case reported(ByteBuffer, String)
        /// The bytes are dropped, for this reason.
        case refused(String)
    }

    private var reader = ClientHelloReader()
    private var held: ByteBuffer?
    /// True once a ClientHello without a server name was seen.
    private(set) var hasNamelessHello = false
    private let policy: Policy
    private let authority: Authority
    private let client: ProxyIdentity
    private let isReported: Bool

    /// - Parameter client: the names of the client that asked for the tunnel.
    init(_ policy: Policy, tunnelTo authority: Authority, of client: ProxyIdentity) {
        self.policy = policy
        self.authority = authority
        self.client = client
        self.isReported = policy.destinations.areReported
    }

    /// True if nothing more needs to be inspected.
    var isOver: Bool { self.reader.isOver }

    /// True if bytes are held back.
    var isHolding: Bool { self.held != nil }

    /// Inspects bytes of the client, before the server gets them.
    mutating func look(at bytes: ByteBuffer) -> Inspection {
        let finding = self.reader.read(Array(buffer: bytes))
        if case .hello(nil) = finding { self.hasNamelessHello = true }
        if self.isReported { return self.refusal(by: finding).map { .reported(bytes, $0) } ?? .passed(bytes) }
        var waiting = bytes
        if var held = self.held {
            // Moved out of the property while it grows, so that it is not copied.
            self.held = nil
            held.writeImmutableBuffer(bytes)
            waiting = held
        }
        if case .undecided = finding {
            self.held = waiting
            return .held
        }
        return self.refusal(by: finding).map { .refused($0) } ?? .passed(waiting)
    }

    private func refusal(by finding: ClientHelloReader.Finding) -> String? {
        switch finding {
        case .hello(let name): self.policy.refusal(ofServerName: name, inTunnelTo: self.authority, of: self.client)
        case .malformed(let reason): reason
        case .undecided, .otherProtocol, .nothingNew: nil
        }
    }
}
