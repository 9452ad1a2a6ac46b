// SPDX-License-Identifier: Apache-2.0

/// Names of fields, to find their lines in one pass, however many names there are.
package struct FieldNames: Sendable {
    private var known: Set<FieldName> = []
    /// The other names in lower case.
    private var others: Set<[UInt8]> = []

    /// - Parameter names: in any letter case.
    package init(_ names: some Sequence<String>) {
        for name in names {
            let known = FieldName(name)
            if known == .other { self.others.insert(name.utf8.map(ASCII.lowercased)) } else { self.known.insert(known) }
        }
    }

    /// True if there are none.
    package var isEmpty: Bool { self.known.isEmpty && self.others.isEmpty }

    /// True if the name of a line, known and as it is spelled, is among them.
    fileprivate func contain(_ known: FieldName, _ name: UnsafeRawBufferPointer) -> Bool {
        if known != .other { return self.known.contains(known) }
        return !self.others.isEmpty && self.others.contains(name.map(ASCII.lowercased))
    }
}

extension Fields {
    /// The lines whose names are among `names`, in wire order.
    package func lines(called names: FieldNames) -> Fields {
        var found = Fields()
        self.forEachField { known, name, value in
            if names.contain(known, name) { found.append(name: name, value: value) }
        }
        return found
    }
}
