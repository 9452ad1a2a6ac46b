// SPDX-License-Identifier: Apache-2.0

/// A filter of exchanges, in the one language of commands, reports, endpoints and the configuration (docs/filters.md).
package struct ExchangeFilter: Sendable, Equatable {
    /// The filter through which every exchange passes.
    package static let all = ExchangeFilter(source: "", expression: .always)

    /// The longest filter, in Unicode scalars.
    package static let longest = 4096

    /// The filter as it was written.
    package let source: String
    private let expression: FilterExpression

    /// Reads a filter. An empty one lets every exchange pass.
    ///
    /// - Throws: the first fault, with its place.
    package init(_ source: String) throws(FilterError) {
        self.source = source
        var parser = try FilterParser(source)
        self.expression = try parser.parse()
    }

    private init(source: String, expression: FilterExpression) {
        (self.source, self.expression) = (source, expression)
    }

    package static func == (left: Self, right: Self) -> Bool { left.source == right.source }

    /// True if every exchange passes.
    package var isEverything: Bool { if case .always = self.expression { true } else { false } }

    /// True if the exchange passes. Regular expressions may take some tenths of a second: not for the thread of a loop.
    package func matches(_ exchange: ShownExchange) -> Bool { self.expression.holds(for: exchange) }
}

indirect enum FilterExpression: Sendable {
    case always
    case term(FilterTerm)
    case not(FilterExpression)
    case all([FilterExpression])
    case any([FilterExpression])

    func holds(for exchange: ShownExchange) -> Bool {
        switch self {
        case .always: true
        case .term(let term): term.holds(for: exchange)
        case .not(let inner): !inner.holds(for: exchange)
        case .all(let parts): parts.allSatisfy { $0.holds(for: exchange) }
        case .any(let parts): parts.contains { $0.holds(for: exchange) }
        }
    }
}
