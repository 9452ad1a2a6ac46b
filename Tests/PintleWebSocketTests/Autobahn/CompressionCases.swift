// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Sections 12 and 13: messages of all lengths, compressed, with five kinds of contents and seven agreements.
struct CompressionCase: Sendable, CustomTestStringConvertible {
    /// The kinds of contents.
    enum Contents: Int, Sendable, CaseIterable { case json, picture, prose, html, noise }

    /// The offer to a server that is tested, and the answer to a client that is.
    struct Agreement: Sendable {
        let offer: String
        let answer: String
        /// The window of the client's bytes, and true if its messages do not refer to earlier ones.
        var clientBits = 15
        var clientForgets = false
        /// The window of the server's bytes, and the same flag for them, for tests of a server.
        var serverBits = 15
        var serverForgets = false
    }

    let number: String
    let contents: Contents
    let agreement: Agreement
    let size: Int
    let count: Int
    /// The most bytes of a fragment; nil for whole messages.
    let fragment: Int?

    var testDescription: String { self.number }
    var isText: Bool { self.contents == .json || self.contents == .html }

    /// The messages, cut out of the contents one after the other.
    var messages: [[UInt8]] {
        let data = Self.data[self.contents.rawValue]
        var place = 0
        return (0..<self.count).map { _ in
            let end = (place + self.size) % data.count
            defer { place = end }
            return end > place ? Array(data[place..<end]) : Array(data[place...]) + data[..<end]
        }
    }

    static let all: [CompressionCase] = {
        let ofContents = Contents.allCases.flatMap { Self.sizes("12.\($0.rawValue + 1)", $0, Self.agreements[0]) }
        let ofAgreements = Self.agreements.enumerated().flatMap { Self.sizes("13.\($0 + 1)", .json, $1) }
        return ofContents + ofAgreements
    }()

    private static func sizes(_ section: String, _ contents: Contents, _ agreement: Agreement) -> [CompressionCase] {
        let whole = [16, 64, 256, 1024, 4096, 8192, 16_384, 32_768, 65_536, 131_072].map {
            (size: $0, fragment: Int?.none)
        }
        let cut: [(size: Int, fragment: Int?)] = [
            (8192, 256), (16_384, 256), (32_768, 256), (65_536, 256), (131_072, 256), (131_072, 1024), (131_072, 4096),
            (131_072, 32_768),
        ]
        let count = SizeCases.isWhole ? 1000 : 8
        return (whole + cut).enumerated().map { index, form in
            CompressionCase(
                number: "\(section).\(index + 1)", contents: contents, agreement: agreement, size: form.size,
                count: count, fragment: form.fragment)
        }
    }

    private static let agreements: [Agreement] = {
        let name = "permessage-deflate"
        let able = "\(name); client_no_context_takeover; client_max_window_bits"
        let strict = "\(able); server_no_context_takeover; server_max_window_bits=9"
        let forgetful = "\(name); client_no_context_takeover"
        return [
            Agreement(offer: able, answer: name),
            Agreement(
                offer: "\(able); server_no_context_takeover", answer: forgetful, clientForgets: true,
                serverForgets: true),
            Agreement(
                offer: "\(able); server_max_window_bits=9", answer: "\(name); client_max_window_bits=9", clientBits: 9,
                serverBits: 9),
            Agreement(offer: "\(able); server_max_window_bits=15", answer: "\(name); client_max_window_bits=15"),
            Agreement(
                offer: strict, answer: "\(forgetful); client_max_window_bits=9", clientBits: 9, clientForgets: true,
                serverBits: 9, serverForgets: true),
            Agreement(
                offer: "\(able); server_no_context_takeover; server_max_window_bits=15",
                answer: "\(forgetful); client_max_window_bits=15", clientForgets: true, serverForgets: true),
            Agreement(
                offer: "\(strict), \(able); server_no_context_takeover, \(able)",
                answer: "\(forgetful); client_max_window_bits=9", clientBits: 9, clientForgets: true, serverBits: 9,
                serverForgets: true),
        ]
    }()

    private static let data: [[UInt8]] = Contents.allCases.map { Self.make($0, count: 200_000) }

    /// Contents that compress as their kind does.
    private static func make(_ contents: Contents, count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(contents.rawValue + 1))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 200)
        while bytes.count < count {
            let number = UInt32.random(in: 0...99_999, using: &generator)
            switch contents {
            case .json:
                bytes += Array("{\"id\": \(number), \"tags\": [\"a\(number % 7)\", \"b\"], \"ok\": true},\n".utf8)
            case .html:
                bytes += Array(
                    "<tr class=\"row\"><td>\(number)</td><td><a href=\"/\(number % 99)\">x</a></td></tr>".utf8)
            case .prose:
                let words = ["Habe", "nun", "ach", "Philosophie", "Juristerei", "und", "Medizin", "leider", "auch"]
                bytes += Array("\(words[Int(number) % words.count]) ".utf8)
            case .picture: bytes += repeated([UInt8(truncatingIfNeeded: bytes.count / 700 + Int(number & 3))], 3)
            case .noise: bytes.append(contentsOf: (0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) })
            }
        }
        return Array(bytes.prefix(count))
    }
}
