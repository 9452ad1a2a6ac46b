// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// One entry of `routes`.
package struct RouteConfiguration: Sendable, Equatable {
    /// What logs, metrics and problems call it; unique.
    package var name: String
    /// Where the file has it.
    package var position: SourcePosition
    /// Which requests it is for.
    package var match = RouteMatch()
    /// The base URL that requests are sent under; nil sends them where they were aimed.
    package var upstream: Upstream?
    /// Whole segments that are taken off the path before it is joined to `upstream`; without a trailing slash.
    package var stripPrefix: String?
    /// The trust policy; nil leaves the choice to `trust.*.hosts`.
    package var trust: Located<String>?
    /// Whether credentials may be injected into requests that go upstream in clear text. Default false.
    package var allowCleartextCredentials = false
    /// What happens to requests.
    package var request = RequestRules()
    /// What responses must keep to.
    package var response = ResponseRules()

    package init(name: String, position: SourcePosition) {
        self.name = name
        self.position = position
    }
}

/// Which requests a route is for. An empty list leaves that part open.
package struct RouteMatch: Sendable, Equatable {
    /// Requested authorities. Default all.
    package var hosts: [HostPattern] = []
    /// Method tokens, compared with regard to case. Default all.
    package var methods: [String] = []
    /// Default all.
    package var paths: [PathPattern] = []
    /// Default http and https.
    package var schemes: [Scheme] = []

    package init() {}
}

/// What happens to the requests of a route.
package struct RequestRules: Sendable, Equatable {
    /// How parameters are written.
    package enum Serialization: String, Sendable, CaseIterable {
        /// Parameters are not added; the body passes.
        case none
        /// Into the query or as a form, by `uriMethods`.
        case http
        /// Into the query by `uriMethods`, else as JSON.
        case json
    }

    /// Fields that are removed and injected.
    package var headers = HeaderRules()
    /// Parameters that are added, in the order of the file. Default none.
    package var parameters: [NamedParameter] = []
    /// Default `none`.
    package var serialize: Serialization = .none
    /// Methods whose parameters go into the query. Default GET, HEAD and DELETE, AFNetworking's.
    package var uriMethods = ["GET", "HEAD", "DELETE"]
    /// Longest silence from upstream. Default 60 s, AFNetworking's.
    package var timeout: Duration = .seconds(60)
    /// For name, connection and handshake together. Default 10 s.
    package var connectTimeout: Duration = .seconds(10)

    package init() {}
}

/// Fields that are removed and injected, in this order: remove, default, set, add.
package struct HeaderRules: Sendable, Equatable {
    /// One field line.
    package struct Line: Sendable, Equatable {
        package var name: String
        package var value: String
        /// Where the file has the name.
        package var position: SourcePosition

        package init(name: String, value: String, position: SourcePosition) {
            self.name = name
            self.value = value
            self.position = position
        }
    }

    /// Names that are removed.
    package var remove: [String] = []
    /// Added where the request then has no such field.
    package var defaults: [Line] = []
    /// Replace all fields of their name.
    package var set: [Line] = []
    /// Added beside what there is.
    package var add: [Line] = []

    package init() {}

    /// Whether there is nothing to do.
    package var isEmpty: Bool {
        self.remove.isEmpty && self.defaults.isEmpty && self.set.isEmpty && self.add.isEmpty
    }
}

/// A parameter of a request, as the file has it.
package struct NamedParameter: Sendable, Equatable {
    package var name: String
    package var value: ParameterValue

    package init(name: String, value: ParameterValue) {
        self.name = name
        self.value = value
    }
}

/// The value of a parameter: what YAML and JSON have in common.
package indirect enum ParameterValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    case double(Double)
    case string(String)
    case list([ParameterValue])
    /// In the order of the file.
    case map([NamedParameter])
}

/// What the responses of a route must keep to.
package struct ResponseRules: Sendable, Equatable {
    /// What a body must be.
    package enum Body: String, Sendable, CaseIterable {
        /// Anything; it streams through.
        case any
        /// A JSON document; it is held whole.
        case json
    }

    /// What happens to a response that breaks the rules.
    package enum OnViolation: String, Sendable, CaseIterable {
        /// The client gets a problem instead.
        case reject
        /// The response passes, marked and logged.
        case report
    }

    /// Acceptable statuses, each 100…599. Default empty: all.
    package var status: [ClosedRange<UInt16>] = []
    /// Acceptable media types, in lower case and without parameters; nil when not given.
    package var contentTypes: [String]?
    /// Default `any`.
    package var body: Body = .any
    /// Whether members that are null are removed from JSON objects. Default false; needs `body: json`.
    package var removeNulls = false
    /// Default `reject`.
    package var onViolation: OnViolation = .reject

    package init() {}

    /// Whether every response passes.
    package var isEmpty: Bool { self.status.isEmpty && self.contentTypes == nil && self.body == .any }
}
