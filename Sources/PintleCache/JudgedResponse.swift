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
    /// The memory that the head takes, in bytes.
    let cost: Int

    fileprivate init(_ response: StoredResponse, _ directives: ResponseDirectives, lifetime: Int64) {
        (self.response, self.directives, self.lifetime) = (response, directives, lifetime)
        self.date = response.date
        self.cost = Self.cost(of: response)
    }

    private static func cost(of response: StoredResponse) -> Int {
        let fields = response.head.fields
        var cost = response.head.reason.utf8.count + fields.byteCount + fields.count * Self.lineCost
        for field in response.selecting {
            cost += 2 * Self.textCost + field.name.utf8.count + (field.value?.count ?? 0)
        }
        for tag in response.tags { cost += Self.textCost + tag.utf8.count }
        return cost
    }

    /// The bytes that a field line takes in the table of its section.
    private static let lineCost = 16
    /// The bytes that a text or a value takes without its content: 16, and 32 for the object with the content.
    private static let textCost = 48
}

extension CacheRules {
    /// Derives from a stored response the values that decisions need.
    package func judged(_ stored: StoredResponse) -> JudgedResponse {
        let directives = ResponseDirectives(stored.head.fields, rules: self)
        return JudgedResponse(stored, directives, lifetime: self.lifetime(of: stored, directives))
    }
}
