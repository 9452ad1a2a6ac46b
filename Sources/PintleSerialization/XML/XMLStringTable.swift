// SPDX-License-Identifier: Apache-2.0

/// The texts of a document, each kept once and identified by a number. Numbers count from 0, which is the empty text.
struct XMLStringTable: Sendable {
    private var texts: [String] = [""]
    private var numbers: [ExactName: Int] = [ExactName(""): 0]

    var count: Int { self.texts.count }

    subscript(number: Int) -> String { self.texts[number] }

    /// Returns the number of a text, and adds the text if it is new.
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
