// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Conversations over raw sockets with the binary between them: one process serves all of a suite's cases.
///
/// A case is data, in `Cases`, by subject. Some rules hold for every case (`WireStage`): the origin gets no byte that was
/// not requested, each client gets only its own answer, and the proxy keeps working.
@Suite(.oneProxy) struct CorpusTests {}

/// Starts the proxy that a suite's cases share, and checks it afterwards.
struct OneProxy: SuiteTrait, TestScoping {
    @TaskLocal static var shared: OneProxy.Shared?

    /// State shared by the cases.
    struct Shared: Sendable {
        let pintle: PintleProcess
        let way: OriginWay
        /// The port of the upstream proxy, if the proxy uses one.
        let parent: ParentPort?
    }

    let way: OriginWay

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        try folder.write(OriginWay.root.get().certificatePEM, to: "root.pem")
        let parent = try self.way.parent.map { (scheme: $0.rawValue, port: try ParentPort()) }
        let upstream = parent.map {
            "upstream_proxy: {url: \"\($0.scheme)://127.0.0.1:\($0.port.port)\", no_proxy: [localhost]}"
        }
        // On one loop all clients share the connections to an origin, so that bytes left on one could reach any client. A
        // sanitizer makes everything several times slower, and a handshake is long in itself.
        let judgesTurns = !runsUnderSanitizer && !self.way.isSecure && self.way.parent != .https
        let pintle = try PintleProcess(
            """
            engine: {threads: 1}
            trust: {corpus: {hosts: ["127.0.0.1"], roots: [root.pem]}}
            tunnels: {verify: off}
            \(upstream ?? "")
            """, log: "{format: json, exchanges: off}",
            environment: ["PINTLE_TURN_LIMIT": judgesTurns ? "10ms" : "off"], folder: folder)
        // A first request and a first tunnel, so that descriptors which are opened once exist before they are counted.
        let origin = try RawOrigin(answering: response("done", fields: "Connection: close\r\n"))
        let near = "http://localhost:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n"
        #expect(try pintle.ask("GET \(near)\r\n").text == "done")
        let tunnel = try pintle.connect()
        try tunnel.send("CONNECT localhost:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try tunnel.readHead().status == 200)
        tunnel.close()
        let before = try pintle.openDescriptors()
        let shared = Shared(pintle: pintle, way: self.way, parent: parent?.port)
        try await Self.$shared.withValue(shared) { try await function() }

        #expect(pintle.process.exitCode == nil, "the proxy has ended: \(pintle.process.errors.suffix(20))")
        // The origins are gone. Connections that were kept to them are dropped as requests find them dead; in between there
        // are many looks, for the connection of the request itself takes a moment to go, too.
        var looks = 0
        try Patience.wait(for: "\(before) descriptors") {
            looks += 1
            if looks % 64 == 0 {
                #expect(try pintle.ask("GET \(near)Connection: close\r\n\r\n").text == "done")
            }
            return try pintle.openDescriptors() <= before
        }
        let after = try pintle.openDescriptors()
        #expect(after <= before)
        #expect(try pintle.stop() == 0, "\(pintle.process.errors.suffix(20))")
        #expect(pintle.slowTurns.isEmpty, "a conversation has held up all others: \(pintle.slowTurns)")
    }
}

extension Trait where Self == OneProxy {
    /// The cases of this suite share one process of the binary, which comes straight to http origins.
    static var oneProxy: OneProxy { OneProxy(way: .straight) }
    /// The cases of this suite share one process of the binary, which comes to origins in this way.
    static func oneProxy(_ way: OriginWay) -> OneProxy { OneProxy(way: way) }
}

extension WireCase {
    /// Plays the case against the suite's proxy.
    func play(onUsed isUsed: Bool = false) throws {
        let shared = try #require(OneProxy.shared, "the suite has no proxy")
        try WireStage.play(
            self, on: shared.pintle, by: isUsed ? shared.way.used : shared.way, at: shared.parent)
    }
}
