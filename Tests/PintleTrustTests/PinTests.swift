// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// The spellings of a pin.
struct PinTests {
    /// The pin of RFC 7469's first example.
    static let text = "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="
    static let hex = "77aab346ef7338409bf7451ecf6ef15a5b4db23d1ed4c77b1a4618915a195a63"

    @Test(arguments: [
        "sha256/\(text)", "sha256//\(text)", "pin-sha256=\"\(text)\"", "pin-sha256=\(text)",
        "sha256/\(text.dropLast())", hex, hex.uppercased(), colons(hex),
    ])
    func `every usual spelling is read`(text: String) throws {
        let pin = try Pin(text)
        #expect(pin.description == "sha256/\(Self.text)")
        #expect(pin.digest.count == 32)
    }

    @Test func `a slash after the prefix is told from a digest that begins with one`() throws {
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(try Pin("sha256//" + String(repeating: "A", count: 43) + "=").digest == zeros)
        for padding in ["=", ""] {
            let slash = try Pin("sha256/" + "/" + String(repeating: "A", count: 42) + padding)
            #expect(slash.digest == [0xFC] + zeros.dropFirst())
            #expect(try Pin(slash.description) == slash)
            #expect(try Pin("sha256//" + slash.description.dropFirst("sha256/".count)) == slash)
        }
        let short = #expect(throws: TrustError.self) { try Pin("sha256//" + String(repeating: "A", count: 42) + "==") }
        #expect(short?.message.hasPrefix("31 bytes after base64") == true)
    }

    @Test(arguments: [
        ("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==", "31 bytes after base64, a SHA-256 pin has 32"),
        ("sha256/AAAA", "3 bytes after base64, a SHA-256 pin has 32"),
        ("sha256/", "0 bytes after base64, a SHA-256 pin has 32"),
        ("sha256/!!!!", "not base64"),
        ("sha256/\(text.dropLast(2))N=", "not canonical base64, the last digit is wrong"),
        ("abcd", "4 hexadecimal digits, a SHA-256 pin has 64"),
        (text, "not a pin: write sha256/ and 44 base64 digits, or 64 hexadecimal digits"),
        ("sha1/AAAAAAAAAAAAAAAAAAA=", "not a pin: write sha256/ and 44 base64 digits, or 64 hexadecimal digits"),
        ("", "not a pin: write sha256/ and 44 base64 digits, or 64 hexadecimal digits"),
    ])
    func `what is no pin is refused with a count or a remedy`(text: String, fact: String) {
        let error = #expect(throws: TrustError.self) { try Pin(text) }
        #expect(error?.code == .invalidPin)
        #expect(
            error?.message == "\(fact): \"\(text)\". To print the current pin of a host: pintle pins show HOST:PORT")
    }

    @Test func `a long text is not repeated whole`() {
        let error = #expect(throws: TrustError.self) { try Pin(String(repeating: "x", count: 100_000)) }
        #expect(error.map { $0.message.count < 300 } == true)
    }

    @Test func `pins are equal by digest and sort by it`() throws {
        let low = try Pin(String(repeating: "00", count: 32))
        let high = try Pin(String(repeating: "ff", count: 32))
        #expect(low < high)
        #expect(try Set([low, Pin("sha256/\(String(repeating: "A", count: 43))=")]).count == 1)
    }

    private static func colons(_ hex: String) -> String {
        stride(from: 0, to: hex.count, by: 2).map { String(hex.dropFirst($0).prefix(2)) }.joined(separator: ":")
    }
}
