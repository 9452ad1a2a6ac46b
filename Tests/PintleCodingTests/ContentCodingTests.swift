// SPDX-License-Identifier: Apache-2.0

import PintleCoding
import Testing

@Suite struct ContentCodingTests {
    @Test(
        arguments: [
            ([], []), ([""], []), (["identity"], []), ([" , ,"], []), (["gzip"], [.gzip]), (["GZip"], [.gzip]),
            (["x-gzip"], [.gzip]), (["\tbr "], [.br]), (["deflate, gzip"], [.deflate, .gzip]),
            (["zstd", "identity,br"], [.zstd, .br]), (["gzip,gzip,gzip,gzip"], [.gzip, .gzip, .gzip, .gzip]),
        ] as [([String], [ContentCoding])])
    func `codings are read in the order in which they were applied`(
        values: [String], codings: [ContentCoding]
    ) throws {
        #expect(try ContentCoding.codings(in: values) == codings)
    }

    @Test(arguments: [("compress", "compress"), ("gzip, Foo", "foo"), ("gzip;q=1", "gzip;q=1"), ("gzip br", "gzip br")])
    func `a coding that nobody knows is named`(value: String, name: String) {
        #expect(throws: ContentDecodingError.unknownCoding(name)) { try ContentCoding.codings(in: [value]) }
        #expect(
            "\(ContentDecodingError.unknownCoding(name))"
                == "its content coding “\(name)” is none that can be undone; these can: gzip, deflate, br, zstd")
    }

    @Test func `a long name is cut`() {
        let error = ContentDecodingError.unknownCoding(String(repeating: "x", count: 15_000))
        let name = String(repeating: "x", count: 80)
        #expect("\(error)".hasPrefix("its content coding “\(name)…” is none that can be undone; "))
    }

    @Test func `more than four codings are refused`() {
        let error = #expect(throws: ContentDecodingError.self) {
            try ContentCoding.codings(in: ["gzip, br", "gzip, br, zstd"])
        }
        #expect(error.map { "\($0)" } == "it has 5 content codings, and at most 4 are undone")
    }

    @Test(
        arguments: [
            (["gzip, deflate, br, zstd"], "gzip, deflate, br, zstd"),
            (["gzip;q=0.5, br;q=1.0"], "gzip;q=0.5, br;q=1.0"),
            (["compress, gzip ; q=0.25 ,dcb"], "gzip ; q=0.25"), (["*"], "identity"), (["*;q=0.1, br"], "br"),
            (["compress;q=0.5, gzip;q=1.0, exi"], "gzip;q=1.0"), ([""], "identity"), (["exi"], "identity"),
            (["identity;q=0.5, *;q=0"], "identity;q=0.5"), (["GZIP", "X-Gzip;Q=0"], "GZIP, X-Gzip;Q=0"),
            (["gzip;q=2, br;q=0.1234, zstd;q, deflate;x=1"], "identity"),
            (["gzip;q=1.001,br;q=0.,zstd;q=1."], "br;q=0., zstd;q=1."),
        ] as [([String], String)])
    func `Accept-Encoding is narrowed to what can be undone`(values: [String], narrowed: String) {
        #expect(ContentCoding.narrowed(accepting: values) == narrowed)
    }

    @Test func `what is accepted is every coding`() {
        #expect(ContentCoding.narrowed(accepting: [ContentCoding.accepted]) == ContentCoding.accepted)
        #expect(ContentCoding.accepted.split(separator: ", ").count == ContentCoding.allCases.count)
    }
}
