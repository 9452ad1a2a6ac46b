// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A stored response with the values that the rules derive from its head; derived once, instead of for each request.
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
    /// Derives from a stored response the values that decisions need.
    package func judged(_ stored: StoredResponse) -> JudgedResponse {
        let directives = ResponseDirectives(stored.head.fields, rules: self)
        return JudgedResponse(stored, directives, lifetime: self.lifetime(of: stored, directives))
    }
}
