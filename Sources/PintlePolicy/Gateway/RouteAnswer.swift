// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The response of a route that answers a request itself, without an origin.
package struct RouteAnswer: Sendable, Equatable {
    package let status: UInt16
    package let fields: Fields
    package let body: [UInt8]
    /// A sentence for the log; nil if there is nothing to say.
    package let note: String?
    /// True for the answer to a preflight of a browser, which is about another request.
    package let isPreflight: Bool

    init(status: UInt16, fields: Fields, body: [UInt8] = [], note: String? = nil, isPreflight: Bool = false) {
        (self.status, self.fields, self.body) = (status, fields, body)
        (self.note, self.isPreflight) = (note, isPreflight)
    }

    /// The response of `respond`.
    init(_ answer: FixedAnswer) {
        self.init(status: answer.status, fields: answer.responseFields, body: answer.body)
    }
}
