// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding
package import PintleMessage
package import PintleSerialization

/// A route's changes to a request before it is sent: parameters, form and fields, but not the destination.
///
/// Pure, so that `pintle check --sample` prints what an exchange sends. An object that all plans of a route share.
package final class RequestRewriter: Sendable {
    /// Size limits for reading and writing.
    package struct Limits: Sendable {
        /// The most bytes of a body after its content codings are removed.
        let body: Int
        /// The most bytes of a target, including added parameters.
        let target: Int

        package init(_ limits: LimitsConfiguration) {
            self.body = limits.bodyBuffer
            self.target = limits.headerBytes
        }
    }

    private let headers: HeaderRules
    /// True if clients' cookies are not passed to the origin.
    private let dropsCookies: Bool
    private let authorization: String?
    private let parameters: Parameter?
    private let serializer: (any RequestSerializer)?
    private let encoding: TextEncoding

    package init(_ rules: RequestRules) {
        self.headers = rules.headers
        self.dropsCookies = rules.cookies != .pass
        self.authorization = rules.authorization?.value
        self.parameters = rules.parameters.isEmpty ? nil : Parameter(rules.parameters)
        self.serializer = rules.serializer
        self.encoding = rules.stringEncoding
    }

    /// True if the route's serializer makes such a request anew, for which it needs the whole body.
    ///
    /// TRACE never carries content (RFC 9110 §9.3.8), and an OPTIONS without content asks about the target, as a browser's
    /// preflight does.
    package func serializes(_ head: RequestHead, hasBody: Bool) -> Bool {
        self.serializer != nil && head.method != "TRACE" && (head.method != "OPTIONS" || hasBody)
    }

    /// Makes the request in the form of the route's serializer, from the parameters in its body and the route's own, which
    /// win.
    ///
    /// - Parameters:
    ///   - body: the whole body, as it came.
    ///   - budget: if it is interrupted, neither result nor error means anything.
    /// - Throws: the reason why the body is not understood or has no form in the route's serialization; `.tooLarge` if it
    ///   decodes to more than the limit, or if the target becomes longer than its own.
    package func serialize(
        _ head: RequestHead, body: [UInt8], limits: Limits, within budget: WorkBudget = .unlimited
    ) throws(SerializationError) -> SerializedRequest {
        guard let serializer else { return SerializedRequest(head: head, body: body.isEmpty ? nil : body) }
        var read = head
        let plain = try Self.decode(body, &read, limit: limits.body, within: budget)
        guard budget.admits(reading: plain) else { throw Self.interrupted }
        let incoming = try IncomingParameters.read(read, body: plain, encoding: self.encoding)
        let parameters = try IncomingParameters.merge(incoming, with: self.parameters)
        guard budget.inspect() else { throw Self.interrupted }
        let request = try serializer.serialize(IncomingParameters.headForNewBody(read), parameters: parameters)
        // If there is still no body, the original head is used, which describes none.
        if parameters == nil, request.body == nil { return try serializer.serialize(head, parameters: nil) }
        let target = request.head.target.path?.utf8.count ?? 0
        guard target <= limits.target || target == head.target.path?.utf8.count else {
            throw SerializationError(
                .tooLarge,
                "the parameters make a target of \(target) bytes, over limits.header_bytes; send them in a body.")
        }
        return request
    }

    /// The error after an interruption.
    package static let interrupted = SerializationError(.unsupportedBody, "the body was not read to its end")

    private static func decode(
        _ body: [UInt8], _ head: inout RequestHead, limit: Int, within budget: WorkBudget
    ) throws(SerializationError) -> [UInt8] {
        guard !body.isEmpty, head.fields.contains(.contentEncoding) else { return body }
        do throws(ContentDecodingError) {
            let codings = try ContentCoding.codings(in: head.fields.values(of: "Content-Encoding"))
            let plain = try ContentDecoder.decoded(body, codings, limit: limit, admits: budget.admits(decoded:))
            head.fields.remove(.contentEncoding)
            return plain
        } catch {
            throw SerializationError(SerializationError.Code(error), "the body cannot be decoded: \(error)")
        }
    }

    /// Removes and injects fields: remove, then default and authorization, then set, then add.
    package func apply(to fields: inout Fields) {
        if self.dropsCookies { fields.remove(.cookie) }
        self.headers.apply(to: &fields) { fields in
            if let authorization, !fields.contains(.authorization) { fields.append("Authorization", authorization) }
        }
    }
}

extension RequestRewriter {
    /// Removes from a trailer section the fields that the route's rules name. Trailers never include Authorization.
    package func apply(toTrailers fields: inout Fields) { self.headers.apply(toTrailers: &fields) }
}

extension SerializationError.Code {
    fileprivate init(_ error: ContentDecodingError) {
        switch error {
        case .beyondLimit: self = .tooLarge
        case .unknownCoding, .tooManyCodings: self = .unsupportedBody
        default: self = .malformedBody
        }
    }
}

extension RequestHead {
    /// Makes the head that is forwarded to the origin of `decision`: without the fields of the connection that it came over,
    /// and with this proxy in its Via.
    ///
    /// - Parameter via: the pseudonym; nil for none.
    package consuming func forwarded(by decision: Decision, via: String?) -> RequestHead {
        let hopsLeft = self.hopsLeft
        let version = self.version
        // Moved, not copied: the fields are changed at once.
        var fields = Fields()
        swap(&fields, &self.fields)
        Forwarding.removeHopByHop(from: &fields)
        // Host is written from the target, which takes precedence if they differ (RFC 9112 §3.2.2).
        fields.remove(.host)
        // HTTP/1.0 has no expectations, and its clients do not wait for them to be met (RFC 9110 §10.1.1).
        if self.minorVersion == 0 { fields.remove(.expect) }
        if let via { Forwarding.appendVia(via, version: version, to: &fields) }
        if let hopsLeft { fields.set("Max-Forwards", String(hopsLeft - 1)) }
        return RequestHead(
            method: self.method,
            target: .absolute(scheme: decision.scheme, authority: decision.authority, path: decision.path),
            fields: fields)
    }

    /// The number of times that a TRACE or OPTIONS may still be forwarded (RFC 9110 §7.6.2); nil if there is no valid limit.
    package var hopsLeft: Int? {
        guard self.method == "TRACE" || self.method == "OPTIONS" else { return nil }
        return self.fields[.maxForwards].flatMap { $0.utf8.allSatisfy(ASCII.isDigit) ? Int($0) : nil }
    }
}

extension Parameter {
    init(_ parameters: [NamedParameter]) {
        self = .dictionary(parameters.map { Entry($0.name, Parameter($0.value)) })
    }

    private init(_ value: ParameterValue) {
        switch value {
        case .null: self = .null
        case .bool(let bool): self = .bool(bool)
        case .integer(let integer): self = .integer(Int64(integer))
        case .double(let double): self = .number(double)
        case .string(let string): self = .string(string)
        case .list(let list): self = .array(list.map { Parameter($0) })
        case .map(let map): self.init(map)
        }
    }
}
