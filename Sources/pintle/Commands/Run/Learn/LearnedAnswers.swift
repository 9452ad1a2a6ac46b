// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleCoding
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy

/// The room that is left to learn: everything that grows with what is seen draws from it.
struct LearningRoom: Sendable {
    /// Hosts, each with a port.
    var hosts = 200
    /// Segments of paths that are told apart.
    var segments = 4000
    /// Sketches of bodies.
    var sketches = 500
    /// Sentences on requests that are not learnt.
    var refusals = 50
    /// True once something was not told apart for want of room.
    var isShort = false
}

/// The responses to requests of one method for one pattern.
struct LearnedAnswers: Sendable {
    /// Levels of what can be said of bodies, the most first.
    enum BodyRule: Int, Sendable, Comparable {
        case schema, json, any

        static func < (left: BodyRule, right: BodyRule) -> Bool { left.rawValue < right.rawValue }
    }

    private static let mostTypes = 16

    private(set) var statuses: Set<UInt16> = []
    /// True where a status is not known, or cannot be written.
    private(set) var hasAnyStatus = false
    private(set) var types: Set<String> = []
    /// True where a body had no type, or one that cannot be written.
    private(set) var hasAnyType = false
    private(set) var rule = BodyRule.schema
    /// Why the rule says no more.
    private(set) var reason: String?
    /// Sketches of the bodies, apart for statuses from 400 on: errors have a form of their own.
    private var sketches: [Bool: SchemaSketch] = [:]
    /// True where a response was said to be JSON.
    private(set) var hasJSON = false

    mutating func note(_ exchange: ObservedExchange, _ room: inout LearningRoom) {
        let record = exchange.record
        guard let status = record.upstreamStatus.flatMap(UInt16.init(exactly:)), (100...599).contains(status) else {
            self.hasAnyStatus = true
            return self.lower(to: .any, "a request had no answer, or one with a status that is none of HTTP's")
        }
        self.statuses.insert(status)
        // A route that looks at bodies neither lets protocols be switched, nor parts be asked for.
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
        _ body: [UInt8], _ codings: [String], isError: Bool, _ room: inout LearningRoom
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
        // Kept for what stands alone, also where there is no schema.
        guard self.rule != .any else { return }
        self.merge(SchemaSketch(isRepeating ? document.withoutMembers : document), isError: isError, &room)
    }

    private mutating func merge(_ sketch: SchemaSketch, isError: Bool, _ room: inout LearningRoom) {
        if self.sketches[isError] == nil {
            guard room.sketches > 0 else {
                room.isShort = true
                return self.lower(to: .any, "there is no room for more schemas")
            }
            room.sketches -= 1
            self.sketches[isError] = sketch
        }
        // Also with itself where it is the first: what is too large is cut.
        self.sketches[isError]?.merge(sketch)
    }

    /// The body without its content codings; nil where they cannot be undone.
    private static func plain(_ body: [UInt8], _ values: [String]) -> [UInt8]? {
        guard !values.isEmpty, !body.isEmpty else { return body }
        guard let codings = try? ContentCoding.codings(in: values) else { return nil }
        return codings.isEmpty ? body : try? ContentDecoder.decoded(body, codings, limit: ExchangeObserver.longestBody)
    }

    // MARK: What is known of bodies

    /// A schema that takes every body; nil where there was none.
    var schema: Parameter? {
        let schemas = [false, true].compactMap { self.sketches[$0]?.schema }
        guard let last = schemas.last, last != schemas[0] else { return schemas.first }
        return .dictionary([Parameter.Entry("anyOf", .array(schemas))])
    }

    /// True where a body was a string, a number, a truth value or null.
    var hasFragments: Bool { self.sketches.values.contains(where: \.hasFragments) }

    mutating func merge(_ other: LearnedAnswers, _ room: inout LearningRoom) {
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
    /// An object without members, or an array without elements; any other value is as it is.
    fileprivate var withoutMembers: Parameter {
        switch self {
        case .dictionary: .dictionary([])
        case .array: .array([])
        default: self
        }
    }
}
