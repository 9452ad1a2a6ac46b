// SPDX-License-Identifier: Apache-2.0

/// A page of the reference, by its name on the command line.
enum HelpTopic: String, CaseIterable, Sendable {
    case topics
    case configuration
    case fields
    case events
    case problems
    case counters
    case metrics
    case filters
    case findings
    case exitCodes = "exit-codes"
    case signals
    case environment
    case files

    /// The topics, without the list of them.
    static let subjects = Self.allCases.filter { $0 != .topics }
    static let longestName = Self.allCases.map(\.rawValue.count).max() ?? 0

    var title: String {
        switch self {
        case .topics: "Reference"
        case .configuration: "Configuration keys"
        case .fields: "Fields of the exchange log"
        case .events: "Events"
        case .problems: "Problems and violations"
        case .counters: "Counters"
        case .metrics: "Metrics"
        case .filters: "Filters"
        case .findings: "Findings of reports"
        case .exitCodes: "Exit codes"
        case .signals: "Signals"
        case .environment: "Environment variables"
        case .files: "Files and folders"
        }
    }

    /// A line for lists of topics.
    var abstract: String {
        switch self {
        case .topics: "this list"
        case .configuration: "keys of the configuration: types, ranges, defaults"
        case .fields: "the line of an exchange"
        case .events: "other log lines that have a name, and live events"
        case .problems: "answers of Pintle's own: meaning, likely cause, remedy"
        case .counters: "numbers in activity.counters and pintle status"
        case .metrics: "families at /metrics"
        case .filters: "the language of tail, top and reports"
        case .findings: "rules of run, audit, pins lint, test and tapes lint"
        case .exitCodes: "results of commands, for scripts"
        case .signals: "signals that commands catch"
        case .environment: "variables that are read, and those that run and env set"
        case .files: "where Pintle keeps what"
        }
    }

    var page: ReferencePage {
        switch self {
        case .topics: ReferencePages.topics
        case .configuration: ReferencePages.configuration
        case .fields: ReferencePages.fields
        case .events: ReferencePages.events
        case .problems: ReferencePages.problems
        case .counters: ReferencePages.counters
        case .metrics: ReferencePages.metrics
        case .filters: ReferencePages.filters
        case .findings: ReferencePages.findings
        case .exitCodes: ReferencePages.exitCodes
        case .signals: ReferencePages.signals
        case .environment: ReferencePages.environment
        case .files: ReferencePages.files
        }
    }
}
