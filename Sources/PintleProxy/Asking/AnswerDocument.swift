// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension Answer {
    /// Reads `{"answer": "allow" or "deny", "for": "once" or "run"}`; nil for anything else.
    package init?(document body: [UInt8]) {
        guard let document = try? JSONScanner().parse(body), case .string(let word) = document["answer"],
            case .string(let scope) = document["for"], let scope = Scope(rawValue: scope),
            ["allow", "deny"].contains(word)
        else { return nil }
        self.init(allows: word == "allow", scope)
    }
}

/// An answer with the question that it is for, so that it answers no other.
package struct SignedAnswer: Sendable {
    package let id: String
    package let answer: Answer

    /// Reads `{"id": …, "answer": …, "for": …}`; nil for anything else.
    package init?(document body: [UInt8]) {
        guard let answer = Answer(document: body), let document = try? JSONScanner().parse(body),
            case .string(let id) = document["id"]
        else { return nil }
        (self.id, self.answer) = (id, answer)
    }
}
