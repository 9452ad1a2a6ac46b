// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleMessage
import Testing

/// A sequence of requests to a cache: one step a line, in the syntax of ``CacheStep``, and `+60` to let a minute pass. A
/// line that begins with a space continues the previous one.
struct CacheCase: Sendable, CustomTestStringConvertible {
    /// The section that the case proves, of RFC 9111 unless another RFC is named.
    let section: String
    let name: String
    let proves: [CacheRequirement]
    let rules: CacheRules
    let mode: CacheMode
    let steps: [String]

    init(
        _ section: String, _ name: String, _ proves: CacheRequirement..., rules: CacheRules = CacheRules(),
        mode: CacheMode = .protocol, steps: String
    ) {
        (self.section, self.name, self.proves) = (section, name, proves)
        (self.rules, self.mode) = (rules, mode)
        self.steps = steps.split(separator: "\n").reduce(into: []) { steps, line in
            if line.hasPrefix(" "), let last = steps.popLast() {
                steps.append(last + " " + line.drop { $0 == " " })
            } else {
                steps.append(String(line))
            }
        }
    }

    var testDescription: String { "\(self.section): \(self.name)" }

    func run() {
        var model = CacheModel(rules: self.rules, mode: self.mode)
        for text in self.steps {
            if text.hasPrefix("+"), let seconds = Int64(text.dropFirst()) {
                model.now = model.now + seconds
                continue
            }
            let step = CacheStep(text, now: model.now)
            let event = model.perform(step)
            let differences = step.differences(event)
            #expect(
                differences.isEmpty,
                "\(text): not \(differences) but \(event.words), \(event.answer?.fields.pairs ?? [])")
        }
    }
}

extension CacheRules {
    /// The rules of one user's own cache.
    static var ofOneUser: CacheRules {
        var rules = CacheRules()
        rules.isShared = false
        return rules
    }
}
