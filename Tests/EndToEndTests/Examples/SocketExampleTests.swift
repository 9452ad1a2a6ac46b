// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// The example that follows a service over a WebSocket.
struct SocketExampleTests {
    private let root: TestIdentity
    private let leaf: TestIdentity
    private let folder: TemporaryFolder
    private let roots: String

    init() throws {
        let pki = TestPKI()
        self.root = try pki.root("Example Root")
        self.leaf = try pki.leaf("example leaf", dns: ["localhost"], signedBy: self.root)
        self.folder = try TemporaryFolder()
        self.roots = try self.folder.write(self.root.certificatePEM, to: "root.pem")
    }

    /// An origin that answers the first message with these frames.
    private func origin(_ frames: WebSocketPeer.Frame...) throws -> RawOrigin {
        let side = try TLSServerSide(self.leaf)
        return try RawOrigin { connection in
            try connection.stream.secure(as: side)
            let peer = try WebSocketPeer(connection, fields: "Sec-WebSocket-Protocol: orders.v1\r\n")
            let wish = try peer.readFrame()
            guard wish.payload == Array(#"{"follow": "all"}"#.utf8) else { return }
            try peer.send(frames.flatMap(\.bytes))
            try peer.finish(after: peer.readFrame(8))
        }
    }

    private func follow(_ origin: RawOrigin, pin: String) throws -> ChildProcess {
        try ExampleProcess.run(["follow", "wss://localhost:\(origin.port)/orders", self.roots, pin])
    }

    @Test func `what the service says is printed, and why it has closed`() throws {
        let origin = try self.origin(
            .init(1, Array("order 8 is paid".utf8)), .init(9), .init(1, Array("order 9 is new".utf8)),
            .close(1001, Array("see you".utf8)))
        let process = try self.follow(origin, pin: self.leaf.pin.description)
        #expect(
            process.exitCode == 0
                && process.output == [
                    "speaks orders.v1", "order 8 is paid", "order 9 is new", "closed with 1001: see you",
                ], "\(process.lines)")
    }

    @Test func `a service that sends bytes is told that orders are text`() throws {
        let process = try self.follow(self.origin(.init(2, [1])), pin: self.leaf.pin.description)
        #expect(process.output == ["speaks orders.v1", "closed with 1003: orders are text"], "\(process.lines)")
    }

    @Test func `a service with another key is not followed`() throws {
        let origin = try self.origin()
        let process = try self.follow(origin, pin: TestPKI().root().pin.description)
        #expect(process.exitCode == 1 && origin.requests.isEmpty, "\(process.lines)")
    }
}
