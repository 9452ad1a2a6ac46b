// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PintleAttestation

/// Base64 that has one text for each sequence of bytes.
struct CanonicalBase64Tests {
    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { CanonicalBase64.encode($0, into: &text) }
        return text
    }

    /// - Returns: nil if the text is refused.
    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        var bytes = text
        guard let count = try? CanonicalBase64.decode(0..<bytes.count, of: &bytes) else { return nil }
        return Array(bytes.prefix(count))
    }

    @Test func `the text is that of Foundation, and is read back`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 89 &+ count) }
            let text = Self.encoded(bytes)
            #expect(String(decoding: text, as: UTF8.self) == Data(bytes).base64EncodedString())
            #expect(Self.decoded(text) == bytes)
        }
    }

    @Test func `what is read is written again alike, whatever byte is changed`() {
        for bytes in [[1], [1, 2], [1, 2, 3], [250, 251, 252, 253]] as [[UInt8]] {
            let text = Self.encoded(bytes)
            for index in text.indices {
                for value in UInt8.min...UInt8.max {
                    var changed = text
                    changed[index] = value
                    if let read = Self.decoded(changed) { #expect(Self.encoded(read) == changed) }
                }
            }
        }
    }

    @Test(arguments: [
        "A", "AA", "AAA", "AA=A", "A===", "====", "AB==", "AAB=", "AA==AAAA", "AA\n=", "AA-_", "AAAA\n", " AAA",
        "AAAA=",
    ])
    func `other texts are refused`(text: String) { #expect(Self.decoded(Array(text.utf8)) == nil) }
}
