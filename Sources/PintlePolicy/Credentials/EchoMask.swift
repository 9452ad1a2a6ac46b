// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// Writes stars over the values of credentials that a server repeats, in bytes that come in pieces. It changes no length.
package struct EchoMask {
    private let echoes: TextFinder
    private var place = TextFinder.Place()
    private var waiting: [UInt8] = []

    init(_ echoes: TextFinder) { self.echoes = echoes }

    private static let star = UInt8(ascii: "*")

    /// Takes a piece, and passes on what is known to be no beginning of a value.
    ///
    /// - Parameter pass: called once, or not at all if nothing can be passed on.
    package mutating func take(_ piece: UnsafeRawBufferPointer, _ pass: (UnsafeRawBufferPointer) -> Void) {
        var found: [TextFinder.Match] = []
        var next = 0
        while let match = self.echoes.next(in: piece, from: next, at: &self.place) {
            next = match.end
            found.append(match)
        }
        let open = self.echoes.open(at: self.place)
        if found.isEmpty, open == 0, self.waiting.isEmpty {
            if !piece.isEmpty { pass(piece) }
            return
        }
        let shift = self.waiting.count
        var bytes = self.waiting + piece
        for match in found {
            // The beginning of a long text may have passed already, under the mask of a shorter one.
            let start = max(0, match.end + shift - match.count)
            for index in start..<match.end + shift { bytes[index] = Self.star }
        }
        let end = bytes.count - open
        self.waiting = Array(bytes[end...])
        if end > 0 { bytes.withUnsafeBytes { pass(UnsafeRawBufferPointer(rebasing: $0[..<end])) } }
    }

    /// Passes on the bytes that waited, once the answer has ended.
    package mutating func finish(_ pass: (UnsafeRawBufferPointer) -> Void) {
        if !self.waiting.isEmpty { self.waiting.withUnsafeBytes(pass) }
        (self.waiting, self.place) = ([], TextFinder.Place())
    }

    /// Masks the values of fields, and their names, in which stars may stand (RFC 9110 §5.6.2).
    package func masked(_ fields: Fields) -> Fields {
        // Nearly no server repeats one.
        guard self.isFound(in: fields) else { return fields }
        var masked = Fields(reservingBytes: fields.byteCount, lines: fields.count)
        fields.forEachField { _, name, value in
            self.masked(name).withUnsafeBytes { name in
                self.masked(value).withUnsafeBytes { masked.append(name: name, value: $0) }
            }
        }
        return masked
    }

    /// Masks the values in a text.
    package func masked(_ text: String) -> String {
        var text = text
        let masked = text.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            return self.echoes.isFound(in: bytes) ? self.masked(bytes) : nil
        }
        return masked.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// Searches all lines at once: no value goes on from one line to the next.
    private func isFound(in fields: Fields) -> Bool {
        var isFound = false
        fields.forEachRun { isFound = isFound || self.echoes.isFound(in: $0) }
        return isFound
    }

    private func masked(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var (masked, place, next) = (Array(bytes), TextFinder.Place(), 0)
        while let match = self.echoes.next(in: bytes, from: next, at: &place) {
            next = match.end
            for index in match.end - match.count..<match.end { masked[index] = Self.star }
        }
        return masked
    }
}
