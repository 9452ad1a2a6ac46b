// SPDX-License-Identifier: Apache-2.0

package import PintleSerialization

/// A value that was made for a schema, as a JSON document.
package struct SchemaSample: Sendable, Equatable {
    /// The kind of value that is made.
    package enum Kind: String, Sendable, CaseIterable {
        /// A valid value that a server may well send. Examples of the schema are used first.
        case ordinary
        /// A valid value that programs forget: absent, null, empty, unknown, at a limit.
        case legal
        /// A value that the schema forbids.
        case broken
    }

    /// The most bytes of a document.
    package static let sizeLimit = 64 * 1024
    /// The steps of a ``PintleSerialization/WorkBudget`` that are enough for nearly every schema, some milliseconds.
    package static let usualSteps = 100_000

    /// The value that the validator has judged.
    package let value: Parameter
    /// The document.
    package let bytes: [UInt8]
    /// The choices that were made, and their places: `/items/0/name: absent`. For a broken value the violations:
    /// `/items/3/price: must be at least 0, is -1`. Empty for an ordinary value.
    package let notes: [String]
}

extension JSONSchema {

    /// Makes a value for this schema; a seed makes the same bytes on every machine and in every run.
    ///
    /// - Parameters:
    ///   - leavesOutWriteOnly: true if members that the schema calls `writeOnly` are left out, unless they are required.
    ///   - budget: the work for the value and its validation.
    /// - Returns: nil if no value was found: the schema allows nothing or forbids nothing, the value would be longer than
    ///   ``SchemaSample/sizeLimit``, the budget is used up, or the schema is too difficult. A value is always checked by the
    ///   validator.
    package func sample(
        _ kind: SchemaSample.Kind, seed: UInt64, leavesOutWriteOnly: Bool = false,
        within budget: WorkBudget = WorkBudget(steps: SchemaSample.usualSteps)
    ) -> SchemaSample? {
        var choices = SeededChoices(seed: seed)
        switch kind {
        case .ordinary:
            return self.valid(&choices, [.ordinary, .small, .least], leavesOutWriteOnly, budget)
        case .legal:
            let rates = [(3, 250), (2, 50), (1, 50), (8, 20)]
            let styles = rates.map { Sampler.Style(unusualRate: $0.0, plenty: $0.1) }
            return self.valid(&choices, styles + [.least], leavesOutWriteOnly, budget)
        case .broken:
            let usual = self.valid(&choices, [.ordinary, .small, .least], leavesOutWriteOnly, budget)?.value
            guard budget.spend(WorkBudget.interval / 8) else { return nil }
            var breaker = Breaker(self, choices: choices, within: budget.share(of: SchemaSample.usualSteps))
            guard let broken = breaker.broken(usual), let bytes = Self.document(of: broken.value) else { return nil }
            return SchemaSample(value: broken.value, bytes: bytes, notes: broken.violations.map(\.note))
        }
    }

    /// Tries to make a valid value, in another style each time.
    private func valid(
        _ choices: inout SeededChoices, _ styles: [Sampler.Style], _ leavesOutWriteOnly: Bool, _ budget: WorkBudget
    ) -> SchemaSample? {
        var plain: SchemaSample?
        for (number, style) in styles.enumerated() {
            let seed = choices.next()
            // A share tells what it spends in intervals only, so each costs a part of one in any case.
            guard budget.spend(WorkBudget.interval / 8) else { return plain }
            // No try uses up what the others need.
            let share = budget.share(of: SchemaSample.usualSteps * (number == 0 ? 2 : 1) / 5)
            var sampler = Sampler(
                self, choices: SeededChoices(seed: seed), style: style, leavesOutWriteOnly: leavesOutWriteOnly,
                within: share)
            if let value = sampler.value(), self.validate(value, within: share).isEmpty, share.interruption == nil {
                var notes = sampler.notes.map { Self.note($0.text, at: $0.place) }
                let form = style.unusualRate == nil ? .usual : DocumentForm(&choices)
                if let usual = Self.document(of: value), let bytes = Self.document(of: value, form) {
                    if let note = form.note, bytes != usual { notes.append(note) }
                    let sample = SchemaSample(value: value, bytes: bytes, notes: notes)
                    if style.unusualRate == nil || !notes.isEmpty { return sample }
                    plain = sample
                }
            }
            guard budget.interruption == nil else { return plain }
        }
        return plain
    }

    private static func note(_ text: String, at place: [PointerToken]) -> String {
        var pointer = ""
        for token in place { JSONPointer.append(token, to: &pointer) }
        return "\(pointer.isEmpty ? "the whole" : Wording.line(pointer, limit: 200)): \(text)"
    }

    private static func document(of value: Parameter, _ form: DocumentForm = .usual) -> [UInt8]? {
        guard let bytes = try? form.write(value), bytes.count <= SchemaSample.sizeLimit else { return nil }
        return bytes
    }
}

extension SchemaViolation {
    /// The place and the sentence, as in ``SchemaSample/notes``.
    fileprivate var note: String {
        let place = self.instanceLocation.isEmpty ? "the whole" : Wording.line(self.instanceLocation, limit: 200)
        return "\(place): \(self.sentence)"
    }
}

/// The form of a document. All have the same value.
private enum DocumentForm {
    case usual, pretty, escaped

    /// Chooses a form; mostly the usual one.
    init(_ choices: inout SeededChoices) {
        switch choices.number(below: 6) {
        case 0: self = .pretty
        case 1: self = .escaped
        default: self = .usual
        }
    }

    var note: String? {
        switch self {
        case .usual: nil
        case .pretty: "the whole: on several lines"
        case .escaped: "the whole: characters beyond ASCII as \\u escapes"
        }
    }

    func write(_ value: Parameter) throws -> [UInt8] {
        let options: JSONWriter.Options = self == .pretty ? [.fragmentsAllowed, .pretty] : .fragmentsAllowed
        let bytes = try JSONWriter.write(value, options: options)
        guard self == .escaped else { return bytes }
        var result: [UInt8] = []
        // Characters beyond ASCII stand in strings only, where escapes are allowed.
        for unit in String(decoding: bytes, as: UTF8.self).utf16 {
            if unit < 0x80 {
                result.append(UInt8(unit))
            } else {
                let digits = String(unit, radix: 16)
                result += ("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits).utf8
            }
        }
        return result
    }
}

extension WorkBudget {
    /// A budget for a part of the work, which spends from this one, too.
    ///
    /// - Parameter steps: the most steps of the part.
    fileprivate func share(of steps: Int) -> WorkBudget {
        WorkBudget(steps: steps, inspect: { self.spend(WorkBudget.interval) ? nil : self.interruption })
    }
}
