// SPDX-License-Identifier: Apache-2.0

/// What a response must be like to be passed on.
///
/// A value: a copy shares nothing with its original.
public struct ResponseContract: Sendable, Equatable {
    /// How much of the body ``validate(head:body:requestMethod:)`` has to see for a given head.
    public enum BodyNeed: Sendable, Equatable {
        /// Nothing: ``validateHead(_:requestMethod:)`` has said it all.
        case nothing
        /// Whether there is a byte: a response without Content-Type passes only when it is empty.
        case firstByte
        /// All of it.
        case whole
    }

    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?

    /// The acceptable media types, without parameters; nil accepts any. Default nil.
    ///
    /// They compare without regard to case (RFC 9110 §8.3.1), and are kept in lower case.
    public var acceptableContentTypes: Set<String>? {
        didSet { self.acceptableContentTypes = self.acceptableContentTypes.map(Self.normalized) }
    }

    /// The rule for the body. Default any.
    public var body: BodyRule

    /// Whether a type with a structured suffix is acceptable where the plain one is: `application/problem+json` as
    /// `application/json`, `image/svg+xml` as `application/xml` or `text/xml`. Default false.
    public var acceptsStructuredSuffixes: Bool

    /// The most bytes that a body may have when its content codings are undone, and that any of several codings may
    /// unfold to. Default 64 MiB. It says nothing about bodies without a coding.
    public var decodedLimit: Int

    /// The media types that JSON is served as.
    public static let jsonTypes: Set<String> = ["application/json", "text/json", "text/javascript"]

    /// Makes a contract.
    public init(
        acceptableStatusCodes: [ClosedRange<UInt16>]? = [200...299], acceptableContentTypes: Set<String>? = nil,
        body: BodyRule = .any,
        acceptsStructuredSuffixes: Bool = false, decodedLimit: Int = 64 << 20
    ) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes.map(Self.normalized)
        self.body = body
        self.acceptsStructuredSuffixes = acceptsStructuredSuffixes
        self.decodedLimit = decodedLimit
    }

    /// The media types that XML is served as.
    public static let xmlTypes: Set<String> = ["application/xml", "text/xml"]

    /// The media type that property lists are served as.
    public static let propertyListTypes: Set<String> = ["application/x-plist"]

    /// The media types that images are served as.
    public static let imageTypes: Set<String> = [
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
        "image/x-xbitmap", "image/x-win-bitmap",
    ]

    /// Status 200…299, one of ``jsonTypes``, and a JSON body.
    public static let json = ResponseContract(acceptableContentTypes: Self.jsonTypes, body: .json(JSONRule()))

    /// Checks what the head alone can tell.
    ///
    /// - Returns: nil where the head keeps the contract, which is the final word when
    ///   ``bodyNeed(for:requestMethod:)`` is `.nothing`. A wrong status with a wrong type is the status's error, with
    ///   the type's behind it.
    public func validateHead(_ head: ResponseHead, requestMethod: String) -> ValidationError? {
        self.headError(head, requestMethod, hasBody: Self.announcesBody(head, requestMethod))
    }

    /// How much of the body has to be seen beyond what ``validateHead(_:requestMethod:)`` has seen.
    public func bodyNeed(for head: ResponseHead, requestMethod: String) -> BodyNeed {
        guard !head.forbidsBody(to: requestMethod) else { return .nothing }
        let announced = Self.announcesBody(head, requestMethod)
        // Where no document is empty, that counts too.
        if self.body.readsBody { return announced == false && self.body.takesNothing ? .nothing : .whole }
        let isUndecided = self.acceptableContentTypes != nil && !head.fields.contains(.contentType) && announced == nil
        return isUndecided ? .firstByte : .nothing
    }

    /// Checks a whole response.
    ///
    /// A response that may not have a body (to HEAD, 1xx, 204, 304) passes whatever its type. Otherwise a type that is
    /// not acceptable is a violation even when the body is empty; no Content-Type at all is one only with a body. After
    /// a wrong type the body is not looked at; after a wrong status it is, and what is wrong with it comes first.
    ///
    /// A rule that looks at the body sees it without its content codings (gzip, deflate, br, zstd, up to four of them). A
    /// coding that cannot be undone is a violation.
    ///
    /// - Returns: what was found out, and above all the bytes to pass on where they are not those that came.
    /// - Throws: the violation, with the one found earlier behind it.
    public func validate(
        head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> CheckedBody {
        try self.validate(head: head, body: body, requestMethod: requestMethod, within: .unlimited)
    }

    /// Checks a whole response as far as `budget` lets it. After an interruption neither result nor error means anything.
    package func validate(
        head: ResponseHead, body: [UInt8], requestMethod: String, within budget: WorkBudget
    ) throws(ValidationError) -> CheckedBody {
        guard self.body.readsBody else {
            if let error = self.headError(head, requestMethod, hasBody: !body.isEmpty) { throw error }
            return CheckedBody()
        }
        let rule = self.body
        let checked = try self.read(
            body, of: head, requestMethod: requestMethod, within: budget
        ) { plain throws(BodyProblem) in
            try rule.check(plain, within: budget)
        }
        return checked ?? CheckedBody()
    }

    // MARK: Inside

    /// - Parameter hasBody: nil where that is not known yet, which is no violation yet.
    func headError(_ head: ResponseHead, _ method: String, hasBody: Bool?) -> ValidationError? {
        let typeError = head.forbidsBody(to: method) ? nil : self.typeError(head, hasBody: hasBody)
        guard let acceptable = self.acceptableStatusCodes, !acceptable.contains(where: { $0.contains(head.status) })
        else { return typeError }
        let message =
            "Request failed: \(ReasonText.text(for: head.status)) (\(head.status))\(Self.expectation(acceptable))"
        return Self.error(.responseStatus, message, head, underlying: typeError)
    }

    /// Says which status codes are demanded; empty for those of any success, which go without saying (RSP-14).
    private static func expectation(_ acceptable: [ClosedRange<UInt16>]) -> String {
        guard acceptable != [200...299] else { return "" }
        let ranges = acceptable.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        guard let last = ranges.last else { return "; the list of statuses is empty, so none passes" }
        return ", expected " + (ranges.count == 1 ? last : "\(ranges.dropLast().joined(separator: ", ")) or \(last)")
    }

    private func typeError(_ head: ResponseHead, hasBody: Bool?) -> ValidationError? {
        guard let acceptable = self.acceptableContentTypes else { return nil }
        let values = head.fields.values(of: "Content-Type")
        guard !values.isEmpty else {
            guard hasBody == true else { return nil }
            return Self.error(.responseContentType, "Request failed: no content-type", head)
        }
        // A response that announces two types is judged by both: recipients differ in which one they believe.
        guard let wrong = values.first(where: { !self.accepts(MediaType.essence(of: $0), acceptable) }) else {
            return nil
        }
        let message = "Request failed: unacceptable content-type: \(MediaType.essence(of: wrong).cutName)"
        return Self.error(.responseContentType, message, head)
    }

    private func accepts(_ type: String, _ acceptable: Set<String>) -> Bool {
        if acceptable.contains(type) { return true }
        return self.acceptsStructuredSuffixes
            && MediaType.typesBehindSuffix(of: type).contains(where: acceptable.contains)
    }

    /// Whether the head says that there is a body, or that there is none; nil where it leaves that open.
    private static func announcesBody(_ head: ResponseHead, _ method: String) -> Bool? {
        if head.forbidsBody(to: method) { return false }
        guard !head.fields.contains(.transferEncoding), let length = head.fields[.contentLength].flatMap({ Int($0) })
        else { return nil }
        return length > 0
    }

    static func error(
        _ kind: ValidationError.Kind, _ message: String, _ head: ResponseHead, underlying: ValidationError? = nil
    ) -> ValidationError {
        ValidationError(
            kind, message, status: head.status, contentType: head.fields[.contentType], underlying: underlying)
    }

    private static func normalized(_ types: Set<String>) -> Set<String> { Set(types.map(MediaType.essence)) }
}
