// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintlePolicy
import PintleSession
import PintleTrust
import Testing

/// One thing that happens to an exchange.
enum Event: Sendable {
    /// The head has come.
    case begin
    /// The client's address may not use the proxy, or there are too many.
    case refuse(Problem)
    /// Bytes of the request's body come.
    case body(String)
    case bodyOf(Int)
    case endOfBody(Fields = [:])
    case clientFellBehind
    case clientCaughtUp
    case clientLeft
    /// The client's body is malformed, or late.
    case clientFails(Problem)
    case interim(UInt16, Fields = [:])
    case head(UInt16, Fields = [:], UInt64? = nil)
    case bytes(String)
    case bytesOf(Int)
    case raw([UInt8])
    case trailers(Fields)
    /// The origin takes all that waits for it.
    case originTook
    case originEnds
    /// The origin ends from within the next call that gives it something of the body.
    case originEndsWhenGiven
    case originFails(SessionError.Code, String)
    /// The origin's certificate is refused.
    case originRefused(Verdict)
    /// A connection for a tunnel.
    case connected
    /// A connection that the origin has switched to other protocols.
    case switched(Fields, early: String = "")
    /// Another configuration is put in force.
    case reload(String)
    case drain
    /// The destination of a tunnel has proved itself before, or has failed to.
    case isProved(Bool)
    /// The listener of ``Scenario/Settings/hasListener`` breaks its connections.
    case listenerBreaks
    /// Other exchanges hold this many bytes.
    case othersHold(Int)
    /// The pool's only worker becomes free.
    case poolIsFree
    /// The work at the end of a turn is done.
    case turn
    /// Waits for other exchanges' work, until a line begins with this text.
    case until(String)
    /// Waits until there are no references to the exchange.
    case gone
    /// Records the number of body bytes that the exchange would accept.
    case wants
    /// Records the number of bytes that are held.
    case held
    /// Draws a line in the transcript.
    case mark
}

/// A conversation as data: configuration, request, events, and the calls that both streams receive.
struct Scenario: Sendable, CustomTestStringConvertible {
    let name: String
    /// YAML after `version: 1`.
    var policy = ""
    /// A request line without a version, then fields; a Host is added.
    var request: [String] = ["GET http://a.test/"]
    var events: [Event]
    /// The transcript; its last line has the counters and the logged exchange.
    var expected: [String] = []
    var settings = Settings()

    /// Further circumstances that differ from the usual.
    struct Settings: Sendable {
        /// The origin takes bytes only on demand.
        var isOriginSlow = false
        /// The client reads nothing from the beginning.
        var isClientSlow = false
        /// The client takes bodies in pipes.
        var takesPipes = false
        /// The pool's only worker has other work.
        var isPoolBusy = false
        /// No job is taken on at all.
        var isPoolFull = false
        /// Other files than ``ExchangeStage/files``.
        var files: [String: String] = [:]
        var minorVersion: UInt8 = 1
        /// Connections for tunnels lead to a listener that is silent, and not to a socket pair.
        var hasListener = false
        /// The port to which such connections lead, in place of the listener's.
        var port: Int?
        /// True if the request's password was found right before.
        var knowsPassword = false
        /// The verdicts on origins and https upstream proxies.
        var verdict: Verdict?
        var parentVerdict: Verdict?
    }

    var testDescription: String { self.name }
}

extension Scenario {
    /// Plays the scenario, and compares the transcript.
    func perform() async throws {
        let (lines, breaches) = try await ExchangeStage(self).run()
        #expect(breaches.isEmpty)
        // If a line is drawn, only the lines after it count.
        let told = lines.split(separator: ExchangeStage.mark, omittingEmptySubsequences: false).last.map(Array.init)
        #expect(told == self.expected, "\(self.name): there is \(lines)")
    }
}

extension Event {
    /// True if the test's own thread handles the event.
    var isWaiting: Bool {
        switch self {
        case .turn, .until, .gone: true
        default: false
        }
    }
}
