// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
internal import PintleSystem

/// Documents of JSON that reports are made of.
extension Parameter {
    /// A dictionary of those members that have a value; nil and `.null` are different.
    package static func object(_ members: [(String, Parameter?)]) -> Parameter {
        .dictionary(members.compactMap { name, value in value.map { Entry(name, $0) } })
    }

    package static func optional(_ text: String?) -> Parameter { text.map { .string($0) } ?? .null }

    package static func strings(_ texts: [String]) -> Parameter { .array(texts.map { .string($0) }) }

    /// As a document with a line end. Marks that are invisible but steer terminals or the direction of writing are
    /// escaped, which JSON leaves open.
    package var jsonText: String {
        // Nothing that reports are made of is without a form in JSON; the nesting is that of the types above.
        let bytes = (try? JSONWriter.write(self, options: .pretty)) ?? []
        return String(decoding: bytes, as: UTF8.self).showable(keepingLines: true) + "\n"
    }
}
