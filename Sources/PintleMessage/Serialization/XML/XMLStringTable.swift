// SPDX-License-Identifier: Apache-2.0

/// Texts of a document, each kept once and known by its number. The numbers count from 0, the empty text's.
struct XMLStringTable: Sendable {
    private var texts: [String] = [""]
    private var numbers: [ExactName: Int] = [ExactName(""): 0]

    var count: Int { self.texts.count }

    subscript(number: Int) -> String { self.texts[number] }

    /// The number of a text, which is added where it is new.
    mutating func number(of bytes: some Collection<UInt8>) -> Int {
        let text = String(decoding: bytes, as: UTF8.self)
        let name = ExactName(text)
        if let number = self.numbers[name] { return number }
        let number = self.texts.count
        self.numbers[name] = number
        self.texts.append(text)
        return number
    }
}
