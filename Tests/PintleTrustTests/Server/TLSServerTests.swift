// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import PintleTrust
import Testing

/// The server's half of TLS connections, against OpenSSL's client on a socket.
struct TLSServerTests {
    let pki = TestPKI()
    let folder: TemporaryFolder
    let identity: TestIdentity
    let context: TLSServerContext

    init() throws {
        self.folder = try TemporaryFolder()
        let signer = try self.pki.intermediate("Middle", signedBy: self.pki.root("Top"))
        self.identity = try self.pki.leaf("proxy", dns: ["proxy.test"], signedBy: signer)
        self.context = try Self.context(self.identity, self.folder)
    }

    private static func context(_ identity: TestIdentity, _ folder: TemporaryFolder) throws -> TLSServerContext {
        let files = try folder.write(identity, as: "proxy")
        return try TLSServerContext(
            identity: ClientIdentity(certificateFile: files.certificate, keyFile: files.key),
            protocols: ["http/1.1", "http/1.0"])
    }

    /// Runs a client on a separate thread, and gives the server's end to the test.
    private func connect<Result: Sendable>(
        _ client: @escaping @Sendable (Int32) throws -> Result, _ server: (ServerEnd) throws -> Void
    ) throws -> Result {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw TestFailure("socketpair: errno \(errno)")
        }
        let (own, peer) = (ends[0], ends[1])
        let outcome = Watched<Swift.Result<Result, any Error>?>(nil)
        Thread.detachNewThread {
            let result = Swift.Result { try client(peer) }
            outcome.change { $0 = result }
        }
        // The client sees an end when the server is done.
        try server(ServerEnd(self.context, own))
        guard let result = try outcome.wait(for: "the client", until: { $0 != nil }) else {
            throw TestFailure("no result")
        }
        return try result.get()
    }

    @Test func `bytes go both ways, and both ends say when they are done`() throws {
        let answer = try self.connect { descriptor in
            let client = try TLSStream(descriptor: descriptor, context: .init(), protocols: ["h2", "http/1.1"])
            #expect(client.chosenProtocol == "http/1.1")
            try client.send("question")
            let answer = client.readToEnd()
            try client.send(" and a last word")
            client.finishSending()
            return answer
        } _: { server in
            #expect(try server.read(8) == Array("question".utf8))
            #expect(server.connection.isEstablished && server.connection.negotiated?.version == .tls13)
            try server.write(Array("answer".utf8))
            #expect(server.connection.finishOutput() == .end)
            // One direction is closed, the other is not.
            #expect(String(decoding: try server.readToEnd(), as: UTF8.self) == " and a last word")
        }
        #expect(String(decoding: answer.bytes, as: UTF8.self) == "answer" && answer.ending == .closed)
    }

    @Test func `what does not fit is written when there is room, from wherever it lies by then`() throws {
        let body = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let received = try self.connect { descriptor in
            try TLSStream(descriptor: descriptor, context: .init()).read(1_500_000)
        } _: { server in
            try server.write(body)
        }
        #expect(received == body)
    }

    @Test func `a client that ends without a word has ended, and can be answered`() throws {
        let answer = try self.connect { descriptor in
            let client = try TLSStream(descriptor: descriptor, context: .init())
            try client.send("question")
            client.cutSending()
            return client.readToEnd()
        } _: { server in
            #expect(String(decoding: try server.readToEnd(), as: UTF8.self) == "question")
            try server.write(Array("answer".utf8))
            #expect(server.connection.finishOutput() == .end)
        }
        #expect(String(decoding: answer.bytes, as: UTF8.self) == "answer" && answer.ending == .closed)
    }

    @Test func `an end that is not announced is seen as a cut`() throws {
        let answer = try self.connect { descriptor in
            try TLSStream(descriptor: descriptor, context: .init()).readToEnd()
        } _: { server in
            try server.write(Array("half".utf8))
        }
        #expect(answer.ending == .cut)
    }

    @Test func `the certificate is shown with its signers`() throws {
        let anchors = try #require(self.identity.fullChain.last)
        let shown = try self.connect { descriptor in
            let context = try MemoryHandshake.ClientContext()
            try context.addAnchor(anchors)
            context.demandTrust()
            let client = try TLSStream(descriptor: descriptor, context: context)
            // Unread bytes at the end would break the connection.
            _ = try client.read(1)
            return client.serverCertificate
        } _: { server in
            try server.write([0])
            _ = try server.readToEnd()
        }
        #expect(shown == self.identity.certificate.der)
    }

    @Test func `a client that refuses the certificate says why`() throws {
        let refused = try self.connect { descriptor in
            let context = try MemoryHandshake.ClientContext()
            context.demandTrust()
            return (try? TLSStream(descriptor: descriptor, context: context)) == nil
        } _: { server in
            let failure = #expect(throws: TLSFailure.self) { _ = try server.readToEnd() }
            #expect(failure?.isOfHandshake == true)
            #expect(failure?.description == "the client ended it with the alert unknown_ca")
        }
        #expect(refused)
    }

    @Test func `a client that offers other protocols only is refused`() throws {
        let refused = try self.connect { descriptor in
            (try? TLSStream(descriptor: descriptor, context: .init(), protocols: ["h2", "imap"])) == nil
        } _: { server in
            let failure = #expect(throws: TLSFailure.self) { _ = try server.readToEnd() }
            #expect(failure?.isOfHandshake == true)
        }
        #expect(refused)
    }

    @Test(arguments: [[1, 2, 3, 4, 5, 6], Array("SSH-2.0-x\r\n".utf8), [0x16, 3, 1, 0, 4, 2, 0, 0, 0]] as [[UInt8]])
    func `what is no TLS is a failure of the handshake, once and for all`(bytes: [UInt8]) throws {
        try self.connect { descriptor in
            defer { close(descriptor) }
            _ = write(descriptor, bytes, bytes.count)
            shutdown(descriptor, Int32(SHUT_WR))
            var space = [UInt8](repeating: 0, count: 100)
            while Glibc.read(descriptor, &space, space.count) > 0 {}
        } _: { server in
            let first = #expect(throws: TLSFailure.self) { _ = try server.readToEnd() }
            let second = #expect(throws: TLSFailure.self) { _ = try server.readToEnd() }
            #expect(first?.isOfHandshake == true && first == second)
            #expect(server.connection.finishOutput() == .end, "there is nobody to tell")
        }
    }

    /// OpenSSL would take in whatever is there, at a microsecond for each record.
    @Test func `LOOK-08 many records of a byte are read a bounded number at a time`() throws {
        try self.connect { descriptor in
            defer { close(descriptor) }
            // A hello of 16 KiB, as far as it goes.
            let hello: [UInt8] = [1, 0, 0x40, 0, 3, 3] + [UInt8](repeating: 0, count: 2_000)
            let bytes = hello.flatMap { [0x16, 3, 3, 0, 1, $0] as [UInt8] }
            _ = write(descriptor, bytes, bytes.count)
        } _: { server in
            let count = try server.readsUntilEnd()
            #expect(count > 4)
        }
    }

    @Test func `a handshake that stops half way is an end`() throws {
        try self.connect { descriptor in
            defer { close(descriptor) }
            _ = write(descriptor, [0x16, 3, 1, 2, 0, 1] as [UInt8], 6)
        } _: { server in
            let sent = try server.readToEnd()
            #expect(sent.isEmpty)
            #expect(!server.connection.isEstablished && server.connection.negotiated == nil)
        }
    }

    @Test func `an identity that OpenSSL does not take is refused when the context is made`() throws {
        let weak = try self.pki.selfSigned("weak", key: .rsa(bits: 1024))
        let error = #expect(throws: TrustError.self) { _ = try Self.context(weak, self.folder) }
        #expect(
            error?.message
                == "the certificate \"CN=weak\": OpenSSL does not accept it for a server; have one issued with a "
                + "stronger key")
    }
}

/// A server's end that blocks if it must wait.
private final class ServerEnd {
    let connection: TLSConnection
    private let descriptor: Int32

    init(_ context: TLSServerContext, _ descriptor: Int32) throws {
        signal(SIGPIPE, SIG_IGN)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        self.descriptor = descriptor
        self.connection = try TLSConnection(context, descriptor: descriptor)
    }

    deinit { close(self.descriptor) }

    func read(_ count: Int) throws -> [UInt8] { try self.read { $0.count < count } }

    func readToEnd() throws -> [UInt8] { try self.read { _ in true } }

    /// Returns the number of reads up to the end.
    func readsUntilEnd() throws -> Int {
        var space = [UInt8](repeating: 0, count: 1024)
        for count in 1... {
            switch space.withUnsafeMutableBytes({ self.connection.read(into: $0) }) {
            case .end: return count
            case .wantsRead: try self.wait(POLLIN)
            case .bytes, .wantsWrite, .wantsIdentity, .failed:
                throw TestFailure("call \(count) was answered in another way")
            }
        }
        return 0
    }

    private func read(while isWanted: ([UInt8]) -> Bool) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var space = [UInt8](repeating: 0, count: 1000)
        while isWanted(bytes) {
            let outcome = space.withUnsafeMutableBytes { self.connection.read(into: $0) }
            switch outcome {
            case .bytes(let count): bytes += space[..<count]
            case .end: return bytes
            case .wantsRead: try self.wait(POLLIN)
            case .wantsWrite: try self.wait(POLLOUT)
            case .wantsIdentity: throw TestFailure("nobody chooses an identity")
            case .failed(let failure): throw failure
            }
        }
        return bytes
    }

    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            // A copy each time: the bytes must not be at their former address.
            let copy = Array(rest)
            switch copy.withUnsafeBytes({ self.connection.write($0) }) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .end: throw TestFailure("writing does not end")
            case .wantsRead: try self.wait(POLLIN)
            case .wantsWrite: try self.wait(POLLOUT)
            case .wantsIdentity: throw TestFailure("nobody chooses an identity")
            case .failed(let failure): throw failure
            }
        }
    }

    private func wait(_ events: Int32) throws {
        var query = pollfd(fd: self.descriptor, events: Int16(events), revents: 0)
        guard poll(&query, 1, Int32(Patience.seconds * 1000)) > 0 else { throw TestFailure("the client does nothing") }
    }
}
