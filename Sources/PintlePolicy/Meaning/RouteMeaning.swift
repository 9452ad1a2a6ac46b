// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization
internal import PintleSession

/// The content of a route without its spelling: two routes are equal if they treat every request that reaches them alike.
///
/// Places in the file, the order of sets and keys that have no effect are left out. Match, name, trust and `connect` are not
/// part of it: they show in decisions.
package struct RouteMeaning: Sendable, Equatable {
    /// The rules that the head and the body of a request follow on their way upstream.
    package let request: Request
    /// Time limits, retries, pace and network of the transfer.
    package let transfer: Transfer
    package let response: Response
    package let contract: ContractMeaning?

    package struct Request: Sendable, Equatable {
        let upstream: Upstream?
        let stripPrefix: String?
        let rules: RequestRules
    }

    package struct Transfer: Sendable, Equatable {
        let throttle: RequestRules.Throttle?
        let timeout: Duration?
        let connectTimeout: Duration
        let retries: RequestRules.Retries
        let serviceType: String
        let interface: String?
        let hasJar: Bool
    }

    package struct Response: Sendable, Equatable {
        let rules: ResponseRules
        /// The JSON Schemas of the body, with the documents that they refer to, in canonical form.
        let schemas: [[UInt8]]
        let redirects: RouteConfiguration.Redirects
        let cache: RouteCachePolicy
        let coalescing: CoalescingRules?
        let simulation: SimulationRules
        /// The response of the route itself, without the places of its fields.
        let answer: RouteAnswer?
        let cors: CORSRules?
        let rewritesUpstream: Bool

        /// True if the same responses break both rules, with the same consequences, whatever else they do.
        package func judgesAlike(_ other: Response) -> Bool {
            let (left, right) = (self.rules, other.rules)
            return left.status == right.status && left.contentTypes == right.contentTypes
                && left.structuredSuffixes == right.structuredSuffixes && left.body == right.body
                && left.onViolation == right.onViolation && left.maxBody == right.maxBody
                && self.schemas == other.schemas && self.redirects == other.redirects
        }
    }

    /// - Parameters:
    ///   - route: nil for requests that match none.
    ///   - documents: reads the contracts.
    init(_ route: RouteConfiguration?, enforcement: Enforcement, _ documents: ContractDocuments) {
        let route = route ?? RouteConfiguration(name: "", position: .nowhere)
        self.request = Request(
            upstream: route.upstream, stripPrefix: route.stripPrefix, rules: route.request.withoutTransfer)
        let rules = route.request
        self.transfer = Transfer(
            throttle: rules.throttle, timeout: rules.timeout, connectTimeout: rules.connectTimeout,
            retries: rules.retries, serviceType: rules.serviceType.rawValue, interface: rules.interface,
            hasJar: rules.cookies == .jar)
        var response = route.response.normalized
        response.onViolation = route.response.onViolation(under: enforcement)
        self.response = Response(
            rules: response, schemas: route.response.schemaFiles.map(documents.schema),
            redirects: route.redirects, cache: route.cache, coalescing: route.coalescing,
            simulation: route.simulation.normalized, answer: route.answer.map { RouteAnswer($0) },
            cors: route.cors, rewritesUpstream: route.rewritesUpstream)
        self.contract = route.contract.map { ContractMeaning($0, documents) }
    }
}

/// The content of an API contract.
package struct ContractMeaning: Sendable, Equatable {
    private let documents: [UInt8]
    private let checksRequests: Bool

    init(_ contract: ContractConfiguration, _ documents: ContractDocuments) {
        self.documents = documents.contract(contract.file.value)
        self.checksRequests = contract.requests
    }
}

extension SourcePosition {
    /// The place of values whose place does not matter.
    static let nowhere = SourcePosition(line: 0, column: 0)
}

extension RequestRules {
    /// The rules that show in the request itself, in normal form.
    fileprivate var withoutTransfer: RequestRules {
        var rules = self
        rules.headers = rules.headers.normalized
        rules.authorization = rules.authorization.map { Located($0.value, at: .nowhere) }
        rules.unreadKeys = []
        (rules.throttle, rules.timeout, rules.interface) = (nil, nil, nil)
        rules.connectTimeout = RequestRules().connectTimeout
        rules.retries = Retries()
        rules.serviceType = .default
        // A jar removes the client's cookies, like `block`; what it adds belongs to the transfer.
        if rules.cookies == .jar { rules.cookies = .block }
        rules.uriMethods = Set(rules.uriMethods).sorted()
        if rules.serialize != .json { rules.json = [] }
        if rules.serialize != .plist { rules.plist = .xml }
        if rules.serialize == .none {
            (rules.parameters, rules.uriMethods, rules.stringEncoding) = ([], [], .utf8)
        }
        return rules
    }
}

extension HeaderRules {
    fileprivate var normalized: HeaderRules {
        func placed(_ lines: [Line]) -> [Line] {
            lines.map { Line(name: $0.name, value: $0.value, position: .nowhere) }
        }
        var rules = self
        rules.remove = Set(self.remove.map { $0.lowercased() }).sorted()
        (rules.defaults, rules.set, rules.add) = (placed(self.defaults), placed(self.set), placed(self.add))
        return rules
    }
}

extension ResponseRules {
    /// The files of JSON Schemas, in the order of the rules.
    fileprivate var schemaFiles: [String] {
        func files(_ body: Body) -> [String] {
            switch body {
            case .json(let rules): rules.schema.map { [$0.value] } ?? []
            case .compound(let members): members.flatMap(files)
            case .any, .xml, .plist, .image: []
            }
        }
        return files(self.body)
    }

    fileprivate var normalized: ResponseRules {
        func normal(_ body: Body) -> Body {
            switch body {
            case .json(var rules):
                // Its documents are compared, not their place; a rule with a schema stays unlike one without.
                rules.schema = rules.schema.map { _ in Located("", at: .nowhere) }
                return .json(rules)
            case .compound(let members): return .compound(members.map(normal))
            case .any, .xml, .plist, .image: return body
            }
        }
        var rules = self
        rules.headers = rules.headers.normalized
        rules.contentTypes = rules.contentTypes.map { Set($0).sorted() }
        rules.body = normal(self.body)
        rules.status = Self.merged(self.status)
        return rules
    }

    private static func merged(_ ranges: [ClosedRange<UInt16>]) -> [ClosedRange<UInt16>] {
        var merged: [ClosedRange<UInt16>] = []
        for range in ranges.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            guard let last = merged.last, Int(range.lowerBound) <= Int(last.upperBound) + 1 else {
                merged.append(range)
                continue
            }
            merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        }
        return merged
    }
}
