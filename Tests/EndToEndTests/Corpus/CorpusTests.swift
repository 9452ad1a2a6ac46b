// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Conversations over raw sockets with the binary between them: one process serves all of a suite's cases.
///
/// A case is data, in `Cases`, by subject. What it does not say holds for every one (`WireStage`): the origin sees no byte
/// that was not asked for, each client gets its own answer and nothing else, and the proxy goes on.
@Suite(.oneProxy) struct CorpusTests {}

/// Starts the proxy that a suite's cases share, and looks at it afterwards.
struct OneProxy: SuiteTrait, TestScoping {
    @TaskLocal static var shared: PintleProcess?

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // On one loop all clients share the connections to an origin: what is left on one could reach anybody.
        // A sanitizer makes everything some times slower.
        let pintle = try PintleProcess(
            "engine: {threads: 1}", log: "{format: json, exchanges: off}",
            environment: ["PINTLE_TURN_LIMIT": runsUnderSanitizer ? "off" : "10ms"])
        // A first request and a first tunnel, so that what is made once is there when descriptors are counted.
        let origin = try ScriptedOrigin(answering: response("done", fields: "Connection: close\r\n"))
        #expect(try pintle.ask(get(origin.port)).text == "done")
        let tunnel = try pintle.connect()
        try tunnel.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try tunnel.readHead().status == 200)
        tunnel.close()
        let before = try pintle.openDescriptors()
        try await Self.$shared.withValue(pintle) { try await function() }

        #expect(pintle.process.exitCode == nil, "the proxy has ended: \(pintle.process.errors.suffix(20))")
        // The origins are gone. Connections that were kept to them are dropped as requests find them dead; in between there
        // are many looks, for the connection of the request itself takes a moment to go, too.
        let deadline = Date(timeIntervalSinceNow: Patience.seconds)
        var looks = 0
        while try pintle.openDescriptors() > before, Date() < deadline {
            looks += 1
            guard looks % 64 == 0 else { continue }
            #expect(try pintle.ask(get(origin.port, fields: "Connection: close\r\n")).text == "done")
        }
        let after = try pintle.openDescriptors()
        #expect(after <= before)
        #expect(try pintle.stop() == 0, "\(pintle.process.errors.suffix(20))")
        #expect(pintle.slowTurns.isEmpty, "a conversation has held up all others: \(pintle.slowTurns)")
    }
}

extension Trait where Self == OneProxy {
    /// The cases of this suite share one process of the binary.
    static var oneProxy: OneProxy { OneProxy() }
}

extension WireCase {
    /// Plays the case against the suite's proxy.
    func play() throws {
        let pintle = try #require(OneProxy.shared, "the suite has no proxy")
        try WireStage.play(self, on: pintle)
    }
}
