// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleTrust

/// Keeps back what the client of a tunnel sends first, until it is known that it is no TLS, or that its handshake is with the
/// server that the tunnel was opened to (`destinations.require_sni_match`).
struct HelloWatch {
    /// What a look at some bytes came to.
    enum Sight {
        /// They wait.
        case held
        /// They go on, with those that waited.
        case passed(ByteBuffer)
        /// They are dropped, and why.
        case refused(String)
    }

    private var reader = ClientHelloReader()
    private var held: ByteBuffer?
    /// True once a ClientHello was seen that names no server.
    private(set) var hasNamelessHello = false
    private let policy: Policy
    private let authority: Authority

    init(_ policy: Policy, tunnelTo authority: Authority) {
        self.policy = policy
        self.authority = authority
    }

    /// Whether there will be nothing more to look at.
    var isOver: Bool { self.reader.isOver }

    /// Whether bytes wait.
    var isHolding: Bool { self.held != nil }

    /// Looks at what the client sends, before the server gets it.
    mutating func look(at bytes: ByteBuffer) -> Sight {
        let finding = self.reader.read(Array(buffer: bytes))
        var waiting = bytes
        if var held = self.held {
            // Taken out while it grows, so that it is not copied.
            self.held = nil
            held.writeImmutableBuffer(bytes)
            waiting = held
        }
        switch finding {
        case .undecided:
            self.held = waiting
            return .held
        case .hello(let name):
            if name == nil { self.hasNamelessHello = true }
            if let reason = self.policy.refusal(ofServerName: name, inTunnelTo: self.authority) {
                return .refused(reason)
            }
        case .malformed(let reason): return .refused(reason)
        case .otherProtocol, .nothingNew: break
        }
        return .passed(waiting)
    }
}
