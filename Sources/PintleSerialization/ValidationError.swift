// SPDX-License-Identifier: Apache-2.0

/// The reason why a response breaks its contract; if there are two, the other one is ``underlying``.
public struct ValidationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of violation, in the spelling of problem types and of the Pintle-Violation field.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The status is not acceptable.
        case responseStatus = "response-status"
        /// The media type is not acceptable, or there is a body without one.
        case responseContentType = "response-content-type"
        /// The body breaks its rule.
        case responseBody = "response-body"
        /// The body is too large to be held or decoded for a check.
        case bodyTooLarge = "body-too-large"
    }

    private indirect enum Link: Sendable, Equatable {
        case none
        case error(ValidationError)
    }

    /// The kind of violation.
    public let kind: Kind
    /// One sentence for users, such as `Request failed: not found (404)`.
    public let message: String
    /// The status of the response.
    public let status: UInt16
    /// The Content-Type of the response, unchanged; nil if it has none.
    public let contentType: String?
    /// One sentence for each problem with the body if ``message`` sums up several: those of a document rule, or one of each
    /// rule of a compound. Otherwise empty.
    public let details: [String]
    private var link: Link = .none

    /// The violation that was found earlier, or nil.
    public var underlying: ValidationError? {
        guard case .error(let error) = self.link else { return nil }
        return error
    }

    /// Makes an error.
    public init(
        _ kind: Kind, _ message: String, status: UInt16, contentType: String?, details: [String] = [],
        underlying: ValidationError? = nil
    ) {
        self.kind = kind
        self.message = message
        self.status = status
        self.contentType = contentType
        self.details = details
        if let underlying { self.link = .error(underlying) }
    }

    /// Returns `error` with `underlying` as its underlying error.
    ///
    /// If one is nil, the result is the other. If `error` already has an underlying error, it stays unchanged, and
    /// `underlying` is dropped.
    public static func combine(_ error: ValidationError?, underlying: ValidationError?) -> ValidationError? {
        guard var error else { return underlying }
        if let underlying, error.link == .none { error.link = .error(underlying) }
        return error
    }

    /// Chains all errors, and their underlying ones, in the order status, type, body: the head is read before the body, and
    /// the status is the first thing to fix in a service.
    ///
    /// In AFNetworking the errors are in the order of detection instead (JRS-08). Equal errors, such as from two contracts
    /// with the same requirement, are kept once.
    ///
    /// - Returns: nil if there is none.
    public static func ordered(_ errors: [ValidationError?]) -> ValidationError? {
        var single: [ValidationError] = []
        for var error in errors.compactMap(\.self).flatMap(\.chain) {
            error.link = .none
            if !single.contains(error) { single.append(error) }
        }
        let ranks = Kind.allCases
        let sorted = ranks.flatMap { kind in single.filter { $0.kind == kind } }
        return sorted.reversed().reduce(nil) { behind, error in Self.combine(error, underlying: behind) }
    }

    /// True if this error, or one under it at any depth, is of `kind`.
    public func has(_ kind: Kind) -> Bool { self.chain.contains { $0.kind == kind } }

    /// This error and the errors under it.
    public var chain: [ValidationError] {
        var chain = [self]
        while let next = chain.last?.underlying { chain.append(next) }
        return chain
    }

    /// The messages of the chain, joined by `; `.
    public var description: String { self.chain.map(\.message).joined(separator: "; ") }
}
