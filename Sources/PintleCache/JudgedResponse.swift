// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A stored response with what the rules read from its head: once, and not for each request that it answers.
package final class JudgedResponse: Sendable {
    /// The stored response.
    package let response: StoredResponse
    let directives: ResponseDirectives
    /// Its ``CacheRules/lifetime(of:)``, in seconds.
    let lifetime: Int64
    /// Its ``StoredResponse/date``.
    let date: CacheTime

    fileprivate init(_ response: StoredResponse, _ directives: ResponseDirectives, lifetime: Int64) {
        (self.response, self.directives, self.lifetime) = (response, directives, lifetime)
        self.date = response.date
    }
}

extension CacheRules {
    /// Reads a stored response for the decisions about it.
    package func judged(_ stored: StoredResponse) -> JudgedResponse {
        let directives = ResponseDirectives(stored.head.fields, rules: self)
        return JudgedResponse(stored, directives, lifetime: self.lifetime(of: stored, directives))
    }
}
