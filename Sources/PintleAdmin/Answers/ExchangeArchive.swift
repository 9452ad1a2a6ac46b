// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintlePolicy
package import PintleProxy
internal import PintleSerialization
internal import PintleWatch

/// The kept exchanges as an HTTP archive (HAR 1.2), the oldest first.
package struct ExchangeArchive {
    /// The length of a document, in bytes, from which on entries have no bodies: compressed ones unfold.
    private static let longest = 256 << 20

    private let recent: RecentExchanges
    private let redaction: Redaction
    private let version: String

    /// - Parameter version: of this program.
    package init(_ recent: RecentExchanges, _ redaction: Redaction, version: String) {
        (self.recent, self.redaction, self.version) = (recent, redaction, version)
    }

    /// Writes the exchanges that pass the filter.
    package func text(_ filter: ExchangeFilter) -> [UInt8] {
        // The entries are written one by one: as values they would take several times their length.
        let place = "entries go here"
        let frame = JSONText.value(
            HAREntry.archive([.string(place)], version: self.version, comment: self.comment))
        let halves = frame.split(separator: JSONText.value(.string(place)), maxSplits: 1)
        var text = Array(halves[0])
        var isFirst = true
        self.forEach { exchange in
            let shown = exchange.shown(self.redaction)
            // It was not asked for.
            guard filter.matches(shown) else { return }
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            text += Self.plain(JSONText.value(HAREntry(shown, hasBodies: text.count < Self.longest).parameter))
        }
        return text + halves[1]
    }

    /// Escapes the characters that steer terminals and change the direction of text. They stand only within strings.
    private static func plain(_ json: [UInt8]) -> [UInt8] {
        if json.allSatisfy({ $0 < 0x80 }) { return json }
        var text = String.UnicodeScalarView()
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars
                }
            default: text.append(scalar)
            }
        }
        return Array(String(text).utf8)
    }

    private var comment: String? {
        let forgotten = self.recent.usage.forgotten
        return forgotten > 0 ? "\(forgotten) earlier exchanges were forgotten" : nil
    }

    private func forEach(_ body: (ObservedExchange) -> Void) {
        var numbers = self.recent.numbers
        while !numbers.isEmpty {
            let slice = numbers.prefix(RecentExchanges.mostAtOnce)
            for kept in self.recent.numbers(slice.startIndex..<slice.endIndex) { body(kept.exchange) }
            numbers = slice.endIndex..<numbers.upperBound
        }
    }
}
