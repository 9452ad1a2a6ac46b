// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// The requirements that a response must meet to be forwarded.
///
/// A value type: a copy shares nothing with its original.
public struct ResponseContract: Sendable, Equatable {
    /// The part of the body that ``validate(head:body:requestMethod:)`` needs for a given head.
    public enum BodyNeed: Sendable, Equatable {
        /// Nothing: the result of ``validateHead(_:requestMethod:)`` is final.
        case nothing
        /// The first byte, if there is one: a response without Content-Type passes only if it is empty.
        case firstByte
        /// The whole body.
        case whole
    }

    /// The acceptable status codes; nil accepts any. Default 200…299.
    public var acceptableStatusCodes: [ClosedRange<UInt16>]?

    /// The acceptable media types, without parameters; nil accepts any. Default nil.
    ///
    /// They are compared without regard to case (RFC 9110 §8.3.1), and stored in lower case.
    public var acceptableContentTypes: Set<String>? {
        didSet { self.acceptableContentTypes = self.acceptableContentTypes.map(Self.normalized) }
    }

    /// The rule for the body. Default any.
    public var body: BodyRule

    /// True if a type with a structured suffix is acceptable if the plain one is: `application/problem+json` as
    /// `application/json`, `image/svg+xml` as `application/xml` or `text/xml`. Default false.
    public var acceptsStructuredSuffixes: Bool

    /// The maximum size of a body after its content codings are undone, and after each of several codings, in bytes.
    /// Default 64 MiB. It does not limit bodies without a coding.
    public var decodedLimit: Int

    /// The media types of JSON.
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

    /// The media types of XML.
    public static let xmlTypes: Set<String> = ["application/xml", "text/xml"]

    /// The media type of property lists.
    public static let propertyListTypes: Set<String> = ["application/x-plist"]

    /// The media types of images.
    public static let imageTypes: Set<String> = [
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
        "image/x-xbitmap", "image/x-win-bitmap",
    ]

    /// Requires status 200…299, one of ``jsonTypes``, and a JSON body.
    public static let json = ResponseContract(acceptableContentTypes: Self.jsonTypes, body: .json(JSONRule()))

    /// Checks the head alone.
    ///
    /// - Returns: nil if the head meets the contract; this is final if ``bodyNeed(for:requestMethod:)`` is `.nothing`. For
    ///   a wrong status and a wrong type, the error of the status, with that of the type as its underlying error.
    public func validateHead(_ head: ResponseHead, requestMethod: String) -> ValidationError? {
        self.headError(head, requestMethod, hasBody: Self.announcesBody(head, requestMethod))
    }

    /// Returns the part of the body that is needed in addition to the head that ``validateHead(_:requestMethod:)`` checks.
    public func bodyNeed(for head: ResponseHead, requestMethod: String) -> BodyNeed {
        guard !head.forbidsBody(to: requestMethod) else { return .nothing }
        let announced = Self.announcesBody(head, requestMethod)
        // If an empty body is not a valid document, it must be checked, too.
        if self.body.readsBody { return announced == false && self.body.takesNothing ? .nothing : .whole }
        let isUndecided = self.acceptableContentTypes != nil && !head.fields.contains(.contentType) && announced == nil
        return isUndecided ? .firstByte : .nothing
    }

    /// Checks a whole response.
    ///
    /// A response that may not have a body (to HEAD, 1xx, 204, 304) passes with any type. Otherwise an unacceptable type is
    /// a violation even if the body is empty; a missing Content-Type is one only if there is a body. After a wrong type the
    /// body is not checked; after a wrong status it is, and a violation of the body comes first.
    ///
    /// A rule that checks the body sees it after its content codings (gzip, deflate, br, zstd, up to four of them) are
    /// undone. A coding that cannot be undone is a violation.
    ///
    /// - Returns: the result, above all the bytes to forward if they differ from the original body.
    /// - Throws: the violation; one of the head becomes its underlying error.
    public func validate(
        head: ResponseHead, body: [UInt8], requestMethod: String
    ) throws(ValidationError) -> CheckedBody {
        try self.validate(head: head, body: body, requestMethod: requestMethod, within: .unlimited)
    }

    /// Checks a whole response within `budget`. After an interruption, both result and error are meaningless.
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

    /// - Parameter hasBody: nil if not known yet; this alone is no violation.
    func headError(_ head: ResponseHead, _ method: String, hasBody: Bool?) -> ValidationError? {
        let typeError = head.forbidsBody(to: method) ? nil : self.typeError(head, hasBody: hasBody)
        guard let acceptable = self.acceptableStatusCodes, !acceptable.contains(where: { $0.contains(head.status) })
        else { return typeError }
        let message =
            "Request failed: \(ReasonText.text(for: head.status)) (\(head.status))\(Self.expectation(acceptable))"
        return Self.error(.responseStatus, message, head, underlying: typeError)
    }

    /// Returns text for the required status codes; empty for 200…299, which is the usual requirement (RSP-14).
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
        // A response with two types must have two acceptable ones: recipients differ in which one they use.
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

    /// True if the head says that there is a body, false if it says that there is none; nil if it leaves this open.
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
