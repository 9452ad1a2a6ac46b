// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// The wishes of a request about its answer.
struct AnswerPreferences {
    /// The most bytes of a field that count, so that a long list costs little.
    private static let limit = 1024

    /// The status of `Prefer: code=404`.
    private(set) var status: UInt16?
    /// The name of `Prefer: example=cat`.
    private(set) var example: String?
    private var accepted: [(range: MediaRange, quality: Double)] = []

    /// - Parameters:
    ///   - accept: the value of Accept (RFC 9110 §12.5.1); nil accepts everything.
    ///   - prefer: the value of Prefer (RFC 7240); `code` and `example` are those of other mock servers.
    init(accept: String?, prefer: String?) {
        var list = FieldScanner(Array((accept ?? "").utf8.prefix(Self.limit))[...])
        while let member = list.part(before: ",") {
            var scanner = FieldScanner(member)
            guard let type = scanner.part(before: ";"), !type.isEmpty else { continue }
            var quality = 1.0
            while let parameter = scanner.part(before: ";") {
                let text = String(decoding: parameter.map(ASCII.folded), as: UTF8.self)
                if text.hasPrefix("q=") { quality = Double(text.dropFirst(2)) ?? 1 }
            }
            self.accepted.append((MediaRange(String(decoding: type, as: UTF8.self)), quality))
        }
        list = FieldScanner(Array((prefer ?? "").utf8.prefix(Self.limit))[...])
        while let member = list.part(before: ",") {
            var scanner = FieldScanner(member)
            guard let name = scanner.token() else { continue }
            scanner.skipSpaces()
            guard scanner.take("=") else { continue }
            scanner.skipSpaces()
            guard let value = scanner.tokenOrQuotedString().map({ String(decoding: $0, as: UTF8.self) }) else {
                continue
            }
            switch String(decoding: name.map(ASCII.lowercased), as: UTF8.self) {
            case "code": self.status = self.status ?? UInt16(value)
            case "example": self.example = self.example ?? value
            default: break
            }
        }
    }

    /// The quality of a media type, from 0 to 1; the most specific range counts.
    func quality(of type: MediaRange) -> Double {
        if self.accepted.isEmpty { return 1 }
        let ranked = self.accepted.map { (rank: $0.range.rank(for: type), quality: $0.quality) }
        guard let best = ranked.max(by: { $0.rank < $1.rank }), best.rank > 0 else { return 0 }
        return best.quality
    }
}
