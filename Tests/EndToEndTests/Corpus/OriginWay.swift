// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// The way of a proxy, or a session, to the origin of a case, and the earlier use of its connection.
///
/// The puppet plays the upstream proxy on the way, too: it accepts the CONNECT and speaks each layer of TLS itself, so that
/// nothing in between passes bytes on at another moment than the case says.
struct OriginWay: Sendable, CustomTestStringConvertible {
    /// The upstream proxy, by the scheme of its URL.
    enum Parent: String, Sendable, CaseIterable { case http, https, socks5 }

    var parent: Parent?
    /// True if the origin uses https.
    var isSecure = false
    /// True if requests of two other clients were answered over the connection before.
    var isUsed = false

    static let straight = OriginWay()

    /// All that there are.
    static let all = ([nil] + Parent.allCases).flatMap { parent in
        [false, true].flatMap { isSecure in
            [false, true].map { OriginWay(parent: parent, isSecure: isSecure, isUsed: $0) }
        }
    }

    /// The way, on a connection that was used before.
    var used: OriginWay { OriginWay(parent: self.parent, isSecure: self.isSecure, isUsed: true) }

    var testDescription: String {
        "to an \(self.scheme) origin\(self.parent.map { " by a parent with \($0)" } ?? "")"
            + (self.isUsed ? ", on a used connection" : "")
    }

    var scheme: String { self.isSecure ? "https" : "http" }

    /// True if the upstream proxy gets the request itself, with its whole URL (RFC 9112 §3.2.2).
    private var isForwarded: Bool { !self.isSecure && (self.parent == .http || self.parent == .https) }

    /// Returns the bytes that the client sends in place of `text`.
    func asked(_ text: WireBytes) -> WireBytes {
        self.isSecure ? WireBytes(text.text.replacing("http://$", with: "https://$")) : text
    }

    /// Returns the bytes that the origin gets in place of `text`.
    func seen(_ text: WireBytes) -> WireBytes {
        guard self.isForwarded, let line = text.text.split(separator: "\r\n", maxSplits: 1).first,
            line.hasSuffix(" HTTP/1.1")
        else { return text }
        return WireBytes(text.text.replacing(" /", with: " http://$/", maxReplacements: 1))
    }

    /// Performs the steps before the first request.
    func open(_ stream: SocketStream) throws {
        if self.parent == .https { try stream.secure(as: Self.site) }
        switch self.parent {
        case .none: break
        case .http where self.isForwarded, .https where self.isForwarded: break
        case .http, .https:
            let wish = try stream.readHead().startLine
            guard wish.hasPrefix("CONNECT ") else { throw TestFailure("the parent is asked: \(wish)") }
            try stream.send("HTTP/1.1 200 Open\r\n\r\n")
        case .socks5: try Self.openSOCKS(stream)
        }
        if self.isSecure { try stream.secure(as: Self.site) }
    }

    /// RFC 1928 §3, §4: accepts every client without authentication, and every request.
    private static func openSOCKS(_ stream: SocketStream) throws {
        _ = try stream.read(Int(try stream.read(2)[1]))
        try stream.send([5, 0])
        switch try stream.read(4)[3] {
        case 1: _ = try stream.read(4)
        case 3: _ = try stream.read(Int(try stream.read(1)[0]))
        default: _ = try stream.read(16)
        }
        _ = try stream.read(2)
        try stream.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    }

    /// The root of the certificates of all origins and upstream proxies.
    static let root = Result { try TestPKI().root("Corpus") }
    private static let identity = Result {
        try TestPKI().leaf("corpus", ip: ["127.0.0.1"], signedBy: Self.root.get())
    }
    private static let side = Result { try TLSServerSide(Self.identity.get()) }
    private static var site: TLSServerSide { get throws { try Self.side.get() } }
}

/// The port of a proxy's upstream proxy: connections go to the puppet of the case that is played.
final class ParentPort: Sendable {
    typealias Serve = @Sendable (SocketStream) throws -> Void

    private let server: RawOrigin
    private let current: Watched<Serve?>

    var port: Int { self.server.port }

    init() throws {
        let current = Watched<Serve?>(nil)
        self.current = current
        self.server = try RawOrigin { try current.current?($0.stream) }
    }

    /// Passes new connections to `serve`.
    func lead(_ serve: Serve?) { self.current.change { $0 = serve } }
}
