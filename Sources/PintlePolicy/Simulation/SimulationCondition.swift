// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The requests that a mock or a fault is for: `when`. Everything that is named must hold; an empty condition always does.
package struct SimulationCondition: Sendable, Equatable {
    /// The requests that are counted together.
    package enum Unit: String, Sendable, CaseIterable {
        /// All that the rule is for.
        case route
        /// Those for one URL, without its query.
        case url
        /// Those of one client address.
        case client
    }

    /// Method tokens. Default all.
    package var methods: [String] = []
    /// Patterns of the path as it goes upstream. Default all.
    package var paths: [PathPattern] = []
    /// Fields that the request must have as it goes upstream, all of them. Default none.
    package var headers: [HeaderPattern] = []
    /// The number of requests that the rule is for, counted for each ``unit``; later ones pass it by. Default nil: all.
    package var first: Int?
    package var unit = Unit.route
    /// The part of the requests that the rule is for, from 0 to 1. Default nil: all.
    package var rate: Double?

    package init() {}

    /// True if the request is of the right kind, counters and chance aside.
    package func accepts(_ request: SimulatedRequest) -> Bool {
        if !self.methods.isEmpty, !self.methods.contains(request.method) { return false }
        if !self.paths.isEmpty, !self.paths.contains(where: { $0.matches(request.path) }) { return false }
        return self.headers.allSatisfy { $0.matches(request.fields) }
    }
}

/// The request that may be answered in the place of its origin, as it goes upstream.
package struct SimulatedRequest: Sendable {
    package let method: String
    package let scheme: Scheme
    package let authority: Authority
    /// Path and query.
    package let path: String
    package let fields: Fields
    /// The client's address; nil if it is not known.
    package let client: String?

    package init(
        method: String, scheme: Scheme, authority: Authority, path: String, fields: Fields, client: String?
    ) {
        (self.method, self.scheme, self.authority) = (method, scheme, authority)
        (self.path, self.fields, self.client) = (path, fields, client)
    }

    /// The URL without its query.
    var location: String {
        "\(self.scheme.rawValue)://\(self.authority)\(self.path.prefix { $0 != "?" })"
    }
}
