// SPDX-License-Identifier: Apache-2.0

/// The bounds of questions about destinations (`destinations.ask`).
package struct AskConfiguration: Sendable, Equatable {
    /// The time for which a request waits for an answer. Default 60 s: most clients wait longer.
    package var timeout: Duration = .seconds(60)
    /// The most questions that are open at the same time. Default 16: more are no questions for a person.
    package var waiting = 16

    package init() {}
}
