// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleMessage
package import PintlePolicy

/// A request taken the whole way up, but for the network: what `pintle check --sample` prints.
package struct DryRun: Sendable {
    /// Where it goes.
    package let decision: Decision
    /// The request as it goes upstream, with Host and framing.
    package let head: RequestHead
    /// Its body.
    package let body: [UInt8]
    /// What went into it, but for the route's rules.
    private let input: (received: RequestHead, body: [UInt8], policy: Policy)
    /// How it breaks its API contract, where that is only reported.
    package let violations: [String]

    /// Takes a request through `policy`.
    ///
    /// - Parameter bytes: as on the wire. A head whose lines end with a line feed alone is taken too, as editors save it;
    ///   a body without Content-Length or Transfer-Encoding is what is left, without a line end at its end.
    /// - Throws: what the client would be answered instead.
    package init(_ bytes: [UInt8], policy: Policy) throws(Problem) {
        let configuration = policy.configuration
        let limits = HeadLimits(
            bytes: configuration.limits.headerBytes, line: configuration.limits.headerLine,
            count: configuration.limits.headerCount)
        let received: RequestHead
        let body: [UInt8]
        do throws(WireError) {
            (received, body) = try Self.parse(bytes, limits)
        } catch {
            throw Problem(error)
        }
        guard body.count <= configuration.limits.bodyBuffer else {
            throw Problem(.bodyTooLarge, "the body of the sample is over limits.body_buffer")
        }
        if let via = configuration.via, Forwarding.hasPassed(via, received.fields) {
            throw Problem(.loopDetected, "the request has passed \"\(via)\" before; give each proxy its own via")
        }
        let decision = try Self.decide(received, policy)
        if let rule = decision.destination.denial {
            throw Problem(.destinationDenied, "\(decision.authority) is denied by \(rule)")
        }
        self.decision = decision
        self.input = (received, body, policy)
        (self.head, self.body) = try Self.rewrite(received, body, decision, policy, decision.route?.rewriter)
        self.violations = try Self.check(self.head, self.body, decision, policy)
    }

    /// The request as it may be shown: with a mask for whatever the route's rules put into it, and the length that its body
    /// then has.
    ///
    /// - Throws: what the client would be answered if the mask were the value.
    package func masked(by mask: String) throws(Problem) -> (head: RequestHead, body: [UInt8]) {
        let rules = self.decision.route?.configuration.request.masked(by: mask)
        let input = self.input
        return try Self.rewrite(
            input.received, input.body, self.decision, input.policy, rules.map { RequestRewriter($0) })
    }

    private static func decide(_ head: RequestHead, _ policy: Policy) throws(Problem) -> Decision {
        let query: RouteQuery
        switch head.target {
        case .absolute(let scheme, let authority, let path):
            query = RouteQuery(
                method: head.method, scheme: scheme, authority: authority, path: path,
                isWebSocket: head.hasWebSocketScheme)
        case .origin(let path):
            guard let host = head.fields[.host], let authority = Authority(host, defaultPort: 80) else {
                throw Problem(.badRequest, "a request with a path for a target needs a Host")
            }
            query = RouteQuery(
                method: head.method, scheme: .http, authority: authority, path: path, form: .gateway)
        case .authority, .asterisk:
            throw Problem(.badRequest, "a sample is a request that is forwarded, not \(head.method)")
        }
        let decision: Decision
        do throws(Malformed) {
            decision = try policy.decide(query)
        } catch {
            throw Problem(.badRequest, error.reason)
        }
        guard query.form == .proxy || decision.route != nil else {
            throw Problem(
                .badRequest,
                "no gateway route matches \(query.authority); write the whole URL into the request line, or give a route "
                    + "an upstream")
        }
        return decision
    }

    private static func rewrite(
        _ received: RequestHead, _ body: [UInt8], _ decision: Decision, _ policy: Policy, _ rewriter: RequestRewriter?
    ) throws(Problem) -> (RequestHead, [UInt8]) {
        let configuration = policy.configuration
        var request = SerializedRequest(head: received.forwarded(by: decision, via: configuration.via), body: nil)
        let hasBody = !body.isEmpty || received.fields.contains(.contentLength)
        if let rewriter {
            if rewriter.serializes(received, hasBody: !body.isEmpty) {
                do throws(SerializationError) {
                    request.head.fields.remove(.expect)
                    request = try rewriter.serialize(
                        request.head, body: body, limits: RequestRewriter.Limits(configuration.limits))
                    if hasBody, body.isEmpty, request.body == nil { request.body = [] }
                } catch {
                    throw Problem(error)
                }
            } else if hasBody {
                request.body = body
            }
            rewriter.apply(to: &request.head.fields)
        } else if hasBody {
            request.body = body
        }
        if received.method == "HEAD" {
            guard request.body?.isEmpty ?? true else {
                throw Problem(.badRequest, "a HEAD request with content is not forwarded")
            }
            request.body = nil
        }
        Self.judge(of: received, decision, policy).prepare(&request.head.fields)
        var fields: Fields = ["Host": decision.authority.description(for: decision.scheme)]
        for (name, value) in request.head.fields.pairs { fields.append(name, value) }
        if let body = request.body { fields.append("Content-Length", String(body.count)) }
        request.head.fields = fields
        return (request.head, request.body ?? [])
    }

    /// What would judge the response.
    private static func judge(of head: RequestHead, _ decision: Decision, _ policy: Policy) -> ResponseJudge {
        let contract = policy.apiContract(for: decision)
        let operation = contract.flatMap { try? $0.operation(method: head.method, path: decision.path) }
        return ResponseJudge(
            decision.route?.contract, operation, method: head.method,
            onViolation: policy.onViolation(on: decision.route),
            maxBody: nil)
    }

    /// Holds the request to its API contract, where that is about requests.
    ///
    /// - Returns: what is wrong, where it is only reported.
    private static func check(
        _ head: RequestHead, _ body: [UInt8], _ decision: Decision, _ policy: Policy
    ) throws(Problem) -> [String] {
        guard let contract = policy.apiContract(for: decision), contract.checksRequests else { return [] }
        let violations: [String]
        do throws(Malformed) {
            let operation = try contract.operation(method: head.method, path: decision.path)
            violations = operation.violations(
                of: head, body: body, hasBody: !body.isEmpty, rules: decision.route?.configuration.request,
                within: .unlimited)
        } catch {
            violations = [error.reason]
        }
        guard let first = violations.first, policy.onViolation(on: decision.route) != .report else { return violations }
        throw Problem(.unserializableRequest, "the request breaks its contract: \(first)")
    }

    // MARK: Reading the sample

    private static func parse(
        _ bytes: [UInt8], _ limits: HeadLimits
    ) throws(WireError) -> (RequestHead, [UInt8]) {
        let bytes = Self.withLineEnds(bytes)
        var parser = RequestParser(limits: limits)
        var parsed: Result<(head: RequestHead, length: Int)?, WireError> = .success(nil)
        bytes.withUnsafeBytes { bytes in parsed = Result { () throws(WireError) in try parser.parse(bytes) } }
        guard let (head, length) = try parsed.get() else {
            throw WireError(.malformed, "the sample has no empty line at the end of its head")
        }
        guard head.fields.contains(.contentLength) || head.fields.contains(.transferEncoding) else {
            var rest = bytes[length...]
            if rest.last == 0x0A { rest.removeLast() }
            if rest.last == 0x0D { rest.removeLast() }
            return (head, Array(rest))
        }
        return (head, try Self.body(bytes[length...], framing: try head.bodyFraming(), limits))
    }

    private static func body(
        _ bytes: ArraySlice<UInt8>, framing: BodyFraming, _ limits: HeadLimits
    ) throws(WireError) -> [UInt8] {
        var inbox = ByteBuffer(bytes: bytes)
        var reader = BodyReader(framing, limits: limits)
        var body: [UInt8] = []
        while true {
            switch try reader.next(&inbox) {
            case .data(let piece): body += piece.readableBytesView
            case .end: return body
            case .waiting:
                throw WireError(.malformed, "the sample ends before its body does; see its Content-Length")
            }
        }
    }

    /// The bytes with carriage returns in the head, where its first line has none.
    private static func withLineEnds(_ bytes: [UInt8]) -> [UInt8] {
        guard let first = bytes.firstIndex(of: 0x0A), first > 0, bytes[first - 1] != 0x0D else { return bytes }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x0A {
                result += [0x0D, 0x0A]
                // The empty line: what follows is the body.
                if index + 1 < bytes.count, bytes[index + 1] == 0x0A {
                    return result + [0x0D, 0x0A] + bytes[(index + 2)...]
                }
            } else {
                result.append(bytes[index])
            }
            index += 1
        }
        return result
    }
}
