// SPDX-License-Identifier: Apache-2.0

/// Why a response breaks its contract, with the violation behind it where there are two.
public struct ValidationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of violation, spelled as problem types and in the Pintle-Violation field.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The status is not acceptable.
        case responseStatus = "response-status"
        /// The media type is not acceptable, or there is a body without one.
        case responseContentType = "response-content-type"
        /// The body is not what it has to be.
        case responseBody = "response-body"
        /// The body is more than may be held or decoded to be checked.
        case bodyTooLarge = "body-too-large"
    }

    private indirect enum Link: Sendable, Equatable {
        case none
        case error(ValidationError)
    }

    /// What is violated.
    public let kind: Kind
    /// One sentence for people, such as `Request failed: not found (404)`.
    public let message: String
    /// The status of the response.
    public let status: UInt16
    /// The Content-Type of the response as it came; nil where it has none.
    public let contentType: String?
    /// One sentence for each thing that is wrong with the body, where ``message`` sums several up: what a document rule
    /// found, or what each rule of a compound one said. Otherwise empty.
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

    /// `error` with `underlying` behind it.
    ///
    /// Where one is nil the result is the other. An error that already has one behind it stays as it is, and
    /// `underlying` is lost.
    public static func combine(_ error: ValidationError?, underlying: ValidationError?) -> ValidationError? {
        guard var error else { return underlying }
        if let underlying, error.link == .none { error.link = .error(underlying) }
        return error
    }

    /// Chains all errors, and those behind them, in the order status, type, body: the head is read before the body, and
    /// who fixes a service begins with its status.
    ///
    /// The errors of AFNetworking stand in the order in which they were found instead (JRS-08). A sentence that was found
    /// twice, as by two contracts that demand the same, is told once.
    ///
    /// - Returns: nil where there is none.
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

    /// Whether this error, or one behind it at any depth, is of `kind`.
    public func has(_ kind: Kind) -> Bool { self.chain.contains { $0.kind == kind } }

    /// This error and those behind it.
    public var chain: [ValidationError] {
        var chain = [self]
        while let next = chain.last?.underlying { chain.append(next) }
        return chain
    }

    /// The messages of the chain, joined by `; `.
    public var description: String { self.chain.map(\.message).joined(separator: "; ") }
}
