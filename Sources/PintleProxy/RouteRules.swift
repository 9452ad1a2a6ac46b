// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy

/// A route's rules, made ready to be applied without looking anything up.
final class RouteRules: Sendable {
    let name: String
    let counters: RouteCounters
    let headers: HeaderRules
    let parameters: Parameter?
    let serializer: (any RequestSerializer)?
    let uriMethods: Set<String>
    let timeout: TimeAmount
    let connectTimeout: TimeAmount
    /// Nil where the route says nothing about responses: they pass untouched.
    let contract: ResponseContract?
    let reportsOnly: Bool

    init(_ route: Route, counters: RouteCounters, enforcement: Enforcement) {
        let request = route.configuration.request
        let response = route.configuration.response
        self.name = route.name
        self.counters = counters
        self.headers = request.headers
        self.uriMethods = Set(request.uriMethods)
        self.parameters = request.parameters.isEmpty ? nil : Parameter(request.parameters)
        switch request.serialize {
        case .none: self.serializer = nil
        case .http:
            var serializer = HTTPRequestSerializer()
            serializer.uriMethods = self.uriMethods
            self.serializer = serializer
        case .json:
            var serializer = JSONRequestSerializer()
            serializer.http.uriMethods = self.uriMethods
            self.serializer = serializer
        }
        self.timeout = TimeAmount(request.timeout)
        self.connectTimeout = TimeAmount(request.connectTimeout)
        self.contract = response.isEmpty ? nil : ResponseContract(response)
        self.reportsOnly = enforcement == .report || response.onViolation == .report
    }

    /// Applies the header rules: remove, then default, then set, then add.
    func apply(to fields: inout Fields) {
        for name in self.headers.remove { fields.remove(name) }
        for line in self.headers.defaults where !fields.contains(line.name) { fields.append(line.name, line.value) }
        for line in self.headers.set { fields.set(line.name, line.value) }
        for line in self.headers.add { fields.append(line.name, line.value) }
    }
}

extension ResponseContract {
    init(_ rules: ResponseRules) {
        self.init(
            statuses: rules.status.isEmpty ? nil : rules.status,
            contentTypes: rules.contentTypes.map { Set($0) } ?? (rules.body == .json ? Self.jsonTypes : nil),
            body: rules.body == .json ? .json(JSONRule(removesNulls: rules.removeNulls)) : .any)
    }
}

extension Parameter {
    init(_ parameters: [NamedParameter]) {
        self = .dictionary(parameters.map { Entry($0.name, Parameter($0.value)) })
    }

    init(_ value: ParameterValue) {
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

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
