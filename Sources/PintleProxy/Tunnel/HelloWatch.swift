// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleTrust

/// Keeps back what the client of a tunnel sends first, until it is known that it is no TLS, or that its handshake is with the
/// server that the tunnel was opened to (`destinations.require_sni_match`). Where that rule only reports, nothing waits.
struct HelloWatch {
    /// What a look at some bytes came to.
    enum Sight {
        /// They wait.
        case held
        /// They go on, with those that waited.
        case passed(ByteBuffer)
        /// They go on, and why they would be dropped.
        case reported(ByteBuffer, String)
        /// They are dropped, and why.
        case refused(String)
    }

    private var reader = ClientHelloReader()
    private var held: ByteBuffer?
    /// True once a ClientHello was seen that names no server.
    private(set) var hasNamelessHello = false
    private let policy: Policy
    private let authority: Authority
    private let isReported: Bool

    init(_ policy: Policy, tunnelTo authority: Authority) {
        self.policy = policy
        self.authority = authority
        self.isReported = policy.destinations.areReported
    }

    /// Whether there will be nothing more to look at.
    var isOver: Bool { self.reader.isOver }

    /// Whether bytes wait.
    var isHolding: Bool { self.held != nil }

    /// Looks at what the client sends, before the server gets it.
    mutating func look(at bytes: ByteBuffer) -> Sight {
        let finding = self.reader.read(Array(buffer: bytes))
        if case .hello(nil) = finding { self.hasNamelessHello = true }
        if self.isReported { return self.refusal(by: finding).map { .reported(bytes, $0) } ?? .passed(bytes) }
        var waiting = bytes
        if var held = self.held {
            // Taken out while it grows, so that it is not copied.
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
        case .hello(let name): self.policy.refusal(ofServerName: name, inTunnelTo: self.authority)
        case .malformed(let reason): reason
        case .undecided, .otherProtocol, .nothingNew: nil
        }
    }
}
