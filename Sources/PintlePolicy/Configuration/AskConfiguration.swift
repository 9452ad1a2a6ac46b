// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The bounds of questions about destinations (`destinations.ask`), and the program that is asked.
package struct AskConfiguration: Sendable, Equatable {
    /// The time for which a request waits for an answer. Default 60 s: most clients wait longer.
    package var timeout: Duration = .seconds(60)
    /// The most questions that are open at the same time. Default 16: more are no questions for a person.
    package var waiting = 16
    /// A program that is asked, too. Default nil: none.
    package var webhook: Webhook?

    /// A program that answers questions by HTTP.
    package struct Webhook: Sendable, Equatable {
        /// Gets each question in a POST.
        package var url: HTTPURL
        /// Signs questions and answers.
        package var secret: String
        /// The variable of the environment that has the secret; nil if it is in a file.
        package var variable: String?
        /// The trust policy of the connection. Default nil: the system's trust.
        package var trust: Located<String>?
    }

    /// The lengths of a secret, in bytes.
    static let secretLengths = 16...4096

    package init() {}
}
