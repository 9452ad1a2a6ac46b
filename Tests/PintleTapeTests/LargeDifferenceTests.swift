// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTape
import Testing

/// Differences of large bodies take linear time.
@Suite struct `Large bodies that differ from their recording` {
    /// The words of the miss.
    private static func difference(_ here: String, _ there: String) throws -> String {
        let folder = try TemporaryFolder()
        var settings = Tape.Settings(path: folder.path)
        settings.match.parts.insert(.body)
        let tape = Tape(settings)
        try tape.add(Recording("POST", "/a", body: there, type: "application/json"))
        let miss = #expect(throws: TapeMiss.self) {
            try tape.find(Recording("POST", "/a", body: here, type: "application/json").request)
        }
        return miss?.description ?? ""
    }

    @Test func `a member among very many is found`() throws {
        func object(_ last: Int) -> String {
            "{\((0..<100_000).map { "\"k\($0)\":0" }.joined(separator: ",")),\"last\":\(last)}"
        }
        #expect(try Self.difference(object(1), object(2)).hasSuffix("in its body: /last is 1 here and 2 there"))
    }

    @Test func `an element below a long name is found`() throws {
        let name = String(repeating: "n", count: 500_000)
        func object(_ last: Int) -> String {
            "{\"\(name)\":[\(String(repeating: "0,", count: 100_000))\(last)]}"
        }
        #expect(try Self.difference(object(1), object(2)).hasSuffix("/100000 is 1 here and 2 there"))
    }

    @Test func `a name that is an endless character is compared with those that do not matter`() throws {
        var marks = ""
        for number in 0..<300_000 { marks.unicodeScalars.append(number % 2 == 0 ? "\u{301}" : "\u{323}") }
        let folder = try TemporaryFolder()
        var settings = Tape.Settings(path: folder.path)
        settings.match.parts.insert(.body)
        settings.match.ignoredJSON = [["a"]]
        let tape = Tape(settings)
        func recording(_ ignored: Int) -> Recording {
            Recording("POST", "/a", body: "{\"a\(marks)\":1,\"a\":\(ignored)}", type: "application/json")
        }
        try tape.add(recording(1))
        _ = try tape.find(recording(2).request)
    }
}
