// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleMessage
internal import PintleSerialization
internal import PintleSession

/// The result of taking a request through a ``RequestPlan`` without network, as `pintle check --sample` prints it.
package struct DryRun: Sendable {
    /// The decision about the request.
    package let decision: Decision
    /// The request as it goes upstream, with Host and framing.
    package let head: RequestHead
    /// The body, without chunked framing.
    package let body: [UInt8]
    /// The breaches of its API contract, if those are only reported.
    package let reported: [PlannedRequest.Breach]
    package var breaches: [String] { self.reported.map(\.reason) }
    /// The rules for the response; nil if it may be anything.
    package let validator: ResponseValidator?
    /// The names of the client of a request as on the wire.
    package private(set) var identity = ProxyIdentity()
    private let plan: RequestPlan
    private let input: (received: RequestHead, body: RequestPlan.Body, client: RequestClient)

    /// Takes a request through `policy`.
    ///
    /// - Parameter bytes: the request as on the wire. Lines of the head may end with a line feed alone, as editors save them.
    ///   A body without Content-Length or Transfer-Encoding is the rest, without a line break at its end. Proxy-Authorization names
    ///   the client (``Policy/identity(by:)``).
    /// - Throws: the problem that the client would get instead.
    package init(_ bytes: [UInt8], policy: Policy) throws(Problem) {
        let limits = policy.configuration.limits
        let sample: Sample
        do throws(WireError) {
            sample = try Sample(
                bytes,
                HeadLimits(bytes: limits.headerBytes, line: limits.headerLine, count: limits.headerCount))
        } catch {
            throw Problem(error)
        }
        let identity = try policy.identity(by: sample.head.fields)
        let plan = RequestPlan(sample.head, sample.framing, by: policy, of: identity)
        if let problem = plan.refusal { throw problem }
        try self.init(plan, sample.head, body: sample.body, trailers: sample.trailers)
        self.identity = identity
    }

    /// Takes a request through its plan.
    ///
    /// - Parameters:
    ///   - plan: the plan for `head`.
    ///   - content: the body, without chunked framing.
    ///   - client: the client that sends it. Default: a program on this machine.
    /// - Throws: the problem that the client would get instead.
    package init(
        _ plan: RequestPlan, _ head: RequestHead, body content: [UInt8], trailers: Fields = Fields(),
        of client: RequestClient = .local
    ) throws(Problem) {
        var body = RequestPlan.Body.streamed
        switch plan.grantedStep {
        case .refuse(let problem): throw problem
        case .tunnel, .respond, .answer, .ask:
            throw Problem(
                .badRequest, "a sample is a request that is forwarded, and this proxy answers this one itself")
        case .send: break
        case .collect where content.count <= plan.policy.configuration.limits.bodyBuffer:
            body = .whole(ByteBuffer(bytes: content), trailers: trailers)
        case .collect:
            guard plan.goesOnUnbuffered else { throw Problem.unbuffered }
            // Without a length, a body proves too long only after its beginning has arrived.
            let beginning = plan.framing == .chunked ? ByteBuffer(bytes: content) : ByteBuffer()
            body = .unbuffered(beginning: beginning, reason: Problem.unbuffered.detail)
        }
        guard let decision = plan.decision else { preconditionFailure("BUG: a request is sent without a decision") }
        (self.plan, self.decision, self.input) = (plan, decision, (head, body, client))
        let made = try plan.request(from: head, body, of: client, within: .unlimited)
        (self.head, self.body) = made.spelled(streaming: content)
        self.reported = made.breaches
        self.validator = made.judge
    }

    /// The request in a form that may be shown: a mask replaces every value that the route's rules put into it, and its body's
    /// length fits the mask.
    ///
    /// - Throws: the problem that the client would get if the mask were the value.
    package func masked(by mask: String) throws(Problem) -> (head: RequestHead, body: [UInt8]) {
        let made = try self.plan.masked(by: mask).request(
            from: self.input.received, self.input.body, of: self.input.client, within: .unlimited)
        return made.spelled(streaming: self.body)
    }
}

extension PlannedRequest {
    /// The head of the request that goes upstream, with Host and framing, and its body without chunked framing.
    ///
    /// - Parameter streamed: the body of a request that streams it unchanged.
    package func spelled(streaming streamed: [UInt8]) -> (head: RequestHead, body: [UInt8]) {
        let request = self.transfer
        let authority = request.authority
        var fields: Fields = ["Host": authority.description(for: request.scheme)]
        if case .stream(nil) = request.body { fields.append("Transfer-Encoding", "chunked") }
        for (name, value) in request.fields.pairs { fields.append(name, value) }
        var body: [UInt8] = []
        switch request.body {
        case .none: break
        case .bytes(let bytes):
            body = Array(bytes.readableBytesView)
            fields.append("Content-Length", String(body.count))
        case .stream(let length):
            body = self.isWhole ? Array(self.content.readableBytesView) : streamed
            if let length { fields.append("Content-Length", String(length)) }
        }
        if let upgrade = request.upgrade {
            fields.append("Connection", "Upgrade")
            fields.append("Upgrade", upgrade)
        }
        let target = RequestTarget.absolute(scheme: request.scheme, authority: authority, path: request.path)
        return (RequestHead(method: request.method, target: target, fields: fields), body)
    }
}

extension RequestPlan {
    /// The head of the request that goes upstream, with Host and framing.
    ///
    /// - Parameter mask: stands for every value that the route's rules put into it.
    /// - Returns: nil if nothing is sent, or if it depends on the body.
    package func sentHead(from head: RequestHead, mask: String) -> RequestHead? {
        guard case .send = self.grantedStep, !self.takesWork, self.refusal == nil,
            let made = try? self.masked(by: mask).request(from: head, .streamed, of: .local, within: .unlimited)
        else { return nil }
        return made.spelled(streaming: []).head
    }
}

/// A saved request.
private struct Sample {
    var head: RequestHead
    var framing = BodyFraming.none
    var body: [UInt8] = []
    var trailers = Fields()

    init(_ bytes: [UInt8], _ limits: HeadLimits) throws(WireError) {
        let bytes = Self.withLineEnds(bytes)
        var parser = RequestParser(limits: limits)
        var parsed: Result<(head: RequestHead, length: Int)?, WireError> = .success(nil)
        bytes.withUnsafeBytes { bytes in parsed = Result { () throws(WireError) in try parser.parse(bytes) } }
        guard let (head, length) = try parsed.get() else {
            throw WireError(.malformed, "the sample has no empty line at the end of its head")
        }
        self.head = head
        guard head.fields.contains(.contentLength) || head.fields.contains(.transferEncoding) else {
            var rest = bytes[length...]
            if rest.last == 0x0A { rest.removeLast() }
            if rest.last == 0x0D { rest.removeLast() }
            self.body = Array(rest)
            if !rest.isEmpty { self.framing = .length(UInt64(rest.count)) }
            return
        }
        self.framing = try head.bodyFraming()
        try self.readBody(bytes[length...], limits)
    }

    private mutating func readBody(_ bytes: ArraySlice<UInt8>, _ limits: HeadLimits) throws(WireError) {
        var decoder = BodyDecoder(self.framing, of: .request, limits: limits)
        var result = Result<Void, WireError>.success(())
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            result = Result { () throws(WireError) in
                while let piece = try decoder.next(bytes, from: &offset) { self.body += bytes[piece] }
            }
        }
        try result.get()
        guard decoder.isOver else {
            throw WireError(.malformed, "the sample ends before its body does; see its Content-Length")
        }
        self.trailers = decoder.trailers
    }

    /// The bytes with carriage returns added in the head, if its first line has none.
    private static func withLineEnds(_ bytes: [UInt8]) -> [UInt8] {
        guard let first = bytes.firstIndex(of: 0x0A), first > 0, bytes[first - 1] != 0x0D else { return bytes }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x0A {
                result += [0x0D, 0x0A]
                // An empty line: the body follows.
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
