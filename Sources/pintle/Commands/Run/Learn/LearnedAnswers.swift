// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleCoding
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization

/// The limits of learning that are still unused: everything that grows with the traffic is counted against them.
struct LearningLimits: Sendable {
    /// The number of further hosts, each with a port.
    var hosts = 200
    /// The number of further path segments that are distinguished.
    var segments = 4000
    /// The number of further sketches of bodies.
    var sketches = 500
    /// The number of further sentences about requests that are not learnt.
    var refusals = 50
    /// True once something was not distinguished because a limit was reached.
    var isShort = false
}

/// The responses to requests with one method and one path pattern.
struct LearnedAnswers: Sendable {
    /// The strength of the rule for bodies, the strictest first.
    enum BodyRule: Int, Sendable, Comparable {
        case schema, json, any

        static func < (left: BodyRule, right: BodyRule) -> Bool { left.rawValue < right.rawValue }
    }

    private static let mostTypes = 16

    private(set) var statuses: Set<UInt16> = []
    /// True if a status is unknown, or cannot be expressed in a configuration.
    private(set) var hasAnyStatus = false
    private(set) var types: Set<String> = []
    /// True if a body had no type, or one that cannot be expressed in a configuration.
    private(set) var hasAnyType = false
    private(set) var rule = BodyRule.schema
    /// The reason why the rule is not stricter.
    private(set) var reason: String?
    /// Sketches of the bodies, separate for statuses from 400 on, because error responses have a form of their own.
    private var sketches: [Bool: InferredSchema] = [:]
    /// True if a response had a JSON media type.
    private(set) var hasJSON = false

    mutating func note(_ exchange: ObservedExchange, _ room: inout LearningLimits) {
        let record = exchange.record
        guard let status = record.upstreamStatus.flatMap(UInt16.init(exactly:)), (100...599).contains(status) else {
            self.hasAnyStatus = true
            return self.lower(to: .any, "a request had no answer, or one with a status that is none of HTTP's")
        }
        self.statuses.insert(status)
        // A route with a rule for bodies permits neither a switch of protocols nor range requests.
        if status == 101 { return self.lower(to: .any, "protocols were switched") }
        if status == 206 { self.lower(to: .any, "parts were asked for") }
        guard let response = exchange.response else {
            return self.lower(to: .any, "another answer took the place of the origin's")
        }
        guard !response.isBodiless else { return }
        self.note(response, isEmpty: record.bytesOut ?? 0 == 0)
        switch response.body {
        case .other where record.bytesOut ?? 0 > 0: self.lower(to: .any, "not every body is JSON by its type")
        case .other: self.lower(to: .json, "a body was empty")
        case .tooLong: self.lower(to: .any, "a body was longer than 1 MiB")
        case .noRoom: self.lower(to: .any, "there was no room for all the bodies at once")
        case .kept where !exchange.isComplete: self.lower(to: .any, "a body was not received to its end")
        case .kept(let body): self.read(body.bytes, response.codings, isError: status >= 400, &room)
        }
    }

    private mutating func note(_ response: ObservedResponse, isEmpty: Bool) {
        if response.contentTypes.contains(where: MediaType.isJSON) { self.hasJSON = true }
        if response.contentTypes.isEmpty, !isEmpty { self.hasAnyType = true }
        for type in response.contentTypes {
            if (try? Spelling.mediaType(type)) == type, type.utf8.count < 128, self.types.count < Self.mostTypes {
                self.types.insert(type)
            } else if !self.types.contains(type) {
                self.hasAnyType = true
            }
        }
    }

    private mutating func lower(to rule: BodyRule, _ reason: String) {
        guard rule > self.rule else { return }
        (self.rule, self.reason) = (rule, reason)
        if rule == .any { self.sketches = [:] }
    }

    private mutating func read(
        _ body: [UInt8], _ codings: [String], isError: Bool, _ room: inout LearningLimits
    ) {
        guard let plain = Self.plain(body, codings) else {
            return self.lower(to: .any, "a content coding could not be undone, or unfolds to more than 1 MiB")
        }
        if plain.isEmpty || plain == [0x20] { return self.lower(to: .json, "a body was empty") }
        guard let document = try? JSONScanner(fragmentsAllowed: true).parse(plain) else {
            return self.lower(to: .any, "a body that is JSON by its type is none")
        }
        let isRepeating = document.repeatsKey
        if isRepeating { self.lower(to: .json, "an object had a key twice") }
        // Kept even without a schema, because it tells if JSON fragments occur.
        guard self.rule != .any else { return }
        self.merge(InferredSchema(isRepeating ? document.withoutMembers : document), isError: isError, &room)
    }

    private mutating func merge(_ sketch: InferredSchema, isError: Bool, _ room: inout LearningLimits) {
        if self.sketches[isError] == nil {
            guard room.sketches > 0 else {
                room.isShort = true
                return self.lower(to: .any, "there is no room for more schemas")
            }
            room.sketches -= 1
            self.sketches[isError] = sketch
        }
        // Merging also truncates a sketch that is too large, so the first one is merged with itself.
        self.sketches[isError]?.merge(sketch)
    }

    /// Returns the body without its content codings; nil if they cannot be decoded.
    private static func plain(_ body: [UInt8], _ values: [String]) -> [UInt8]? {
        guard !values.isEmpty, !body.isEmpty else { return body }
        guard let codings = try? ContentCoding.codings(in: values) else { return nil }
        return codings.isEmpty ? body : try? ContentDecoder.decoded(body, codings, limit: ExchangeObserver.longestBody)
    }

    // MARK: Facts about bodies

    /// A schema that accepts every body; nil if there was no body.
    var schema: Parameter? {
        let schemas = [false, true].compactMap { self.sketches[$0]?.schema }
        guard let last = schemas.last, last != schemas[0] else { return schemas.first }
        return .dictionary([Parameter.Entry("anyOf", .array(schemas))])
    }

    /// True if a body was a string, a number, a truth value or null.
    var hasFragments: Bool { self.sketches.values.contains(where: \.hasFragments) }

    mutating func merge(_ other: LearnedAnswers, _ room: inout LearningLimits) {
        self.statuses.formUnion(other.statuses)
        self.types.formUnion(other.types)
        self.hasAnyStatus = self.hasAnyStatus || other.hasAnyStatus
        self.hasAnyType = self.hasAnyType || other.hasAnyType
        self.hasJSON = self.hasJSON || other.hasJSON
        for (isError, sketch) in other.sketches {
            if self.sketches[isError] == nil {
                self.sketches[isError] = sketch
            } else {
                room.sketches += 1
                self.sketches[isError]?.merge(sketch)
            }
        }
        if other.rule > self.rule { self.lower(to: other.rule, other.reason ?? "") }
    }
}

extension Parameter {
    /// An object without its members, or an array without its elements; any other value unchanged.
    fileprivate var withoutMembers: Parameter {
        switch self {
        case .dictionary: .dictionary([])
        case .array: .array([])
        default: self
        }
    }
}
