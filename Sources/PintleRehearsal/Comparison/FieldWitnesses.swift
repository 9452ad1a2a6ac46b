// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// Fields that match each set of patterns that fields can match at once; the first has none.
struct FieldWitnesses {
    private(set) var all = [Fields()]
    /// False if there may be sets without fields here.
    private(set) var isComplete = true

    /// - Parameter most: the most elements.
    init(_ patterns: some Sequence<HeaderPattern>, most: Int) {
        let names = Dictionary(grouping: Set(patterns), by: { $0.name.lowercased() })
        for (name, patterns) in names.sorted(by: { $0.key < $1.key }) {
            let witnesses = PatternWitnesses(values: patterns)
            let sets = Self.subsets(witnesses.texts)
            if !witnesses.isComplete || sets.isCut { self.isComplete = false }
            let base = self.all
            for values in sets.all {
                guard self.all.count + base.count <= most else {
                    self.isComplete = false
                    break
                }
                for var fields in base {
                    for value in values { fields.append(patterns.first?.name ?? name, value) }
                    self.all.append(fields)
                }
            }
        }
    }

    /// The sets of values. Several lines may match several patterns that no single one does.
    private static func subsets(_ values: [String]) -> (all: [[String]], isCut: Bool) {
        guard values.count <= 6 else { return (values.map { [$0] }, true) }
        let sets = (1..<1 << values.count).map { bits in
            values.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
        }
        return (sets, false)
    }
}
