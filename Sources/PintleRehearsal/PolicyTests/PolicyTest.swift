// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintlePolicy
package import PintleSerialization
package import PintleTrust

/// One test of a policy: a request, a response to it or a chain of certificates, and what the configuration must make of them.
package struct PolicyTest: Sendable {
    /// A fact about an exchange or a chain that is compared as text. Raw values are the keys of `expect`.
    package enum Fact: String, Sendable, CaseIterable {
        /// `allow`, `would-deny`, `deny`, `reject` or `error`, as in the exchange log.
        case decision
        /// The rule about clients or destinations that decided.
        case rule
        /// The name of the problem that Pintle answers with.
        case problem
        case route
        /// The URL of the request that is made; `host:port` of a tunnel.
        case upstream
        case trust
        /// The method of the request that is made.
        case method
        /// The name of the first problem that is only reported.
        case would
        /// The status that the client gets.
        case status
        /// `origin`, `mock`, `fault`, `recording` or `pintle`, as the exchange log names the source of an answer.
        case source
        /// The rules that simulate, as `explain` names them: `mock[0]`.
        case simulation
        /// `match`, `mismatch` or `none`, as filters name it.
        case pin
        case trusted
        /// The reason why a chain is refused.
        case error

        /// True if the fact is about a request.
        package var isOfRequest: Bool {
            switch self {
            case .decision, .rule, .problem, .route, .upstream, .method, .would, .status, .source, .simulation: true
            case .trust, .pin, .trusted, .error: false
            }
        }

        /// True if the fact is about a chain alone.
        package var isOfChain: Bool {
            switch self {
            case .pin, .trusted, .error: true
            case .decision, .rule, .problem, .route, .upstream, .method, .would, .status, .source, .simulation, .trust:
                false
            }
        }
    }

    /// A request as a client sends it.
    package struct Request: Sendable {
        package let head: RequestHead
        package let body: [UInt8]
        package let client: Client
        /// True if the request came in an intercepted tunnel, which the client has authenticated itself for.
        package let isIntercepted: Bool
    }

    /// The client of a request.
    package struct Client: Sendable {
        /// Default 127.0.0.1.
        package var address = IPAddress(v4: 0x7F00_0001)
        /// A user of `clients.basic_auth` with the right password.
        package var user: String?
        /// The label that it adds to its name.
        package var tag: String?
    }

    /// A response of the origin.
    package struct Response: Sendable {
        package let head: ResponseHead
        package let body: [UInt8]
    }

    /// A chain of certificates that a server shows.
    package struct Chain: Sendable {
        /// Leaf first.
        package let certificates: [Certificate]
        /// Anchors in place of the policy's; nil for the policy's own.
        package let roots: [Certificate]?
        /// The server; nil for the one that the request of the test goes to.
        package let host: Authority?
        /// The moment of the evaluation; nil for the moment of the test.
        package let moment: UnixTime?
    }

    /// The demand on a fact.
    package struct FactDemand: Sendable {
        package let fact: Fact
        package let expected: ExpectedText
        package let position: SourcePosition
    }

    /// The demand on a header field of the request that is made: one text for each of its lines, in their order.
    package struct FieldDemand: Sendable {
        package let name: String
        package let expected: [ExpectedText]
        package let position: SourcePosition
    }

    /// The demand on the body of the request that is made.
    package struct BodyDemand: Sendable {
        package enum Content: Sendable {
            case text(ExpectedText)
            /// A document of JSON that is equal but for the order of members and the spelling.
            case json(Parameter)
        }

        package let content: Content
        package let position: SourcePosition
    }

    package let name: String
    /// The place of the test, with its file.
    package let position: SourcePosition
    package var request: Request?
    package var response: Response?
    package var chain: Chain?
    package var facts: [FactDemand] = []
    package var fields: [FieldDemand] = []
    package var body: BodyDemand?
    /// The names of all violations, in any order; nil if the test has no demand on them.
    package var violations: Located<[String]>?

    package init(name: String, position: SourcePosition) {
        self.name = name
        self.position = position
    }

    /// True if the test demands nothing, so that it could not fail.
    package var demandsNothing: Bool {
        self.facts.isEmpty && self.fields.isEmpty && self.body == nil && self.violations == nil
    }
}
