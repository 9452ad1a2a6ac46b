// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization
internal import PintleTrust
internal import PintleWatch

/// One client of the Chrome DevTools Protocol, without its connection: answers commands, and turns exchanges into events.
///
/// It has the commands without which Chromium's front end does not open. All others are unknown, as the front end expects of a
/// target that is no browser.
struct DevToolsSession {
    private enum Following {
        case off
        case on(ExchangeFollower)
    }

    /// The version of the protocol.
    static let version = "1.3"
    /// The latest exchanges that a client gets when it begins to follow.
    private static let replayed: UInt64 = 500

    private let recent: RecentExchanges
    private var following = Following.off

    init(_ recent: RecentExchanges) { self.recent = recent }

    // MARK: Commands

    /// The errors of commands. Their numbers are those of JSON-RPC.
    private enum Failure {
        case noCommand
        case unknown(String)
        case notKept(String)

        var parameter: Parameter {
            let (code, message): (Int64, String) =
                switch self {
                case .noCommand: (-32600, "a command is an object with a number as id and a string as method")
                case .unknown(let method): (-32601, "'\(method)' is unknown to Pintle")
                case .notKept(let reason): (-32000, reason)
                }
            return .object([("code", .integer(code)), ("message", .string(message))])
        }
    }

    /// Carries out a command.
    ///
    /// - Parameter message: one message of the client.
    /// - Returns: the message that answers it.
    mutating func answer(_ message: [UInt8], _ redaction: Redaction) -> [UInt8] {
        guard let command = try? JSONScanner(nestingLimit: 100).parse(message), case .integer(let id) = command["id"],
            case .string(let method) = command["method"]
        else {
            return JSONText.value(.object([("error", Failure.noCommand.parameter)]))
        }
        var members: [(String, Parameter?)] = [("id", .integer(id))]
        switch self.perform(method, command["params"], redaction) {
        case .success(let result): members.append(("result", .object(result)))
        case .failure(let failure): members.append(("error", failure.parameter))
        }
        return JSONText.value(.object(members))
    }

    private enum Outcome {
        case success([(String, Parameter?)])
        case failure(Failure)
    }

    private mutating func perform(_ method: String, _ parameters: Parameter?, _ redaction: Redaction) -> Outcome {
        switch method {
        case "Network.enable":
            self.following = .on(ExchangeFollower(withLatest: Self.replayed, of: self.recent))
            return .success([])
        case "Network.disable":
            self.following = .off
            return .success([])
        case "Page.enable", "Runtime.enable", "Runtime.runIfWaitingForDebugger", "Log.enable", "Target.setAutoAttach",
            "Target.setDiscoverTargets", "Target.setRemoteLocations":
            return .success([])
        case "Page.getResourceTree":
            return .success([("frameTree", .object([("frame", Self.frame), ("resources", .array([]))]))])
        case "Network.getResponseBody":
            return self.body(parameters, redaction, \.response) { body in
                [("body", .string(body.text ?? body.base64)), ("base64Encoded", .bool(body.text == nil))]
            }
        case "Network.getRequestPostData":
            return self.body(parameters, redaction, \.request) { body in
                [("postData", .string(body.text ?? body.base64)), ("base64Encoded", .bool(body.text == nil))]
            }
        default: return .failure(.unknown(method))
        }
    }

    /// Answers with a body of an exchange.
    private func body(
        _ parameters: Parameter?, _ redaction: Redaction, _ part: (any ShownBodies) -> ShownBody?,
        _ result: (ShownBody) -> [(String, Parameter?)]
    ) -> Outcome {
        guard case .string(let id) = parameters?["requestId"], let number = UInt64(id), number < .max,
            let exchange = self.recent.numbers(number..<number + 1).first?.exchange
        else { return .failure(.notKept("there is no such exchange, or it is forgotten")) }
        guard let bodies = exchange.shown(redaction).bodies else {
            return .failure(.notKept("no body is kept; `capture` in the configuration says of which exchanges"))
        }
        guard let body = part(bodies) else { return .failure(.notKept("the exchange has no such body")) }
        return .success(result(body))
    }

    /// The frame of a page that has no content. Its address is shown nowhere.
    private static var frame: Parameter {
        .object([
            ("id", .string(NetworkEvents.frame)), ("loaderId", .string(NetworkEvents.frame)), ("url", "about:blank"),
            ("domainAndRegistry", ""), ("securityOrigin", "null"), ("mimeType", "text/html"),
            ("secureContextType", "InsecureScheme"), ("crossOriginIsolatedContextType", "NotIsolated"),
            ("gatedAPIFeatures", .array([])),
        ])
    }

    // MARK: Events

    /// Takes the next exchanges, as messages for the client; does nothing unless it has asked for them.
    ///
    /// - Parameters:
    ///   - policy: the policy in force.
    ///   - send: gets each message. They are not gathered, since memory for all of them would be asked for, and given back, each time.
    mutating func events(
        under policy: Policy, _ redaction: Redaction, at now: Timestamp, to send: ([UInt8]) -> Void
    ) {
        guard case .on(var place) = self.following else { return }
        let (lost, kept) = place.next(of: self.recent)
        self.following = .on(place)
        if lost > 0 { send(Self.note(lost: lost, at: now)) }
        for kept in kept {
            let exchange = kept.exchange
            let events = NetworkEvents(
                exchange.shown(redaction), number: kept.number, isComplete: exchange.isComplete,
                port: policy.remotePort(of: exchange.record), certificate: exchange.verdict.flatMap(Self.certificate))
            for message in events.messages { send(message) }
        }
    }

    private static func certificate(of verdict: Verdict) -> NetworkEvents.Certificate? {
        guard verdict.isTrusted, let leaf = verdict.chain.first else { return nil }
        let (start, end) = (leaf.certificate.notBefore.seconds, leaf.notAfter.seconds)
        // A policy may trust a certificate whose dates are absurd.
        guard start <= end else { return nil }
        return NetworkEvents.Certificate(subject: leaf.subject, issuer: leaf.issuer, validity: start...end)
    }

    private static func note(lost count: UInt64, at now: Timestamp) -> [UInt8] {
        let text = count == 1 ? "1 exchange is not shown" : "\(count) exchanges are not shown"
        return Self.message(
            "Log.entryAdded",
            .object([
                (
                    "entry",
                    .object([
                        ("source", "network"), ("level", "warning"),
                        ("text", .string("\(text): more have ended than are sent here")),
                        ("timestamp", .integer(now.milliseconds)),
                    ])
                )
            ]))
    }

    private static func message(_ method: String, _ parameters: Parameter) -> [UInt8] {
        JSONText.value(.object([("method", .string(method)), ("params", parameters)]))
    }
}

extension Policy {
    /// The port to which an exchange was connected. Its record has only the address; nil behind an upstream proxy.
    func remotePort(of record: ExchangeRecord) -> UInt16? {
        guard self.configuration.upstreamProxy == nil else { return nil }
        let route = record.route.flatMap { name in self.routes.routes.first { $0.name == name } }
        if let upstream = route?.configuration.upstream { return upstream.authority.port }
        let isPlain = record.url?.hasPrefix("http:") == true
        return record.host.flatMap { Authority($0, defaultPort: isPlain ? 80 : 443) }?.port
    }
}
