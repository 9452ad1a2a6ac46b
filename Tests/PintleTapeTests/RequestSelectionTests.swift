// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTape
import Testing

/// Answers that are only for requests with the same range, or with the same conditions.
@Suite struct `Answers for a selection` {
    private static func recording(
        _ answer: String, _ fields: [(String, String)] = [], status: UInt16 = 200
    ) -> Recording {
        var recording = Recording("GET", "/a", answer: answer, fields: fields)
        recording.response.head.status = status
        return recording
    }

    private static func range(_ value: String) -> [(String, String)] { [("Range", "bytes=\(value)")] }

    /// A tape that is read from the disk.
    private static func tape(
        _ folder: TemporaryFolder, of recordings: [Recording], order: TapeOrder = .sequence
    ) throws -> Tape {
        var settings = Tape.Settings(path: folder.path)
        settings.order = order
        let writer = Tape(settings)
        for recording in recordings { try writer.add(recording) }
        return Tape(settings)
    }

    /// Returns the answers to requests with these fields, and the reason for each that has none.
    private static func play(_ tape: Tape, _ requests: [[(String, String)]]) -> [String] {
        requests.map { fields in
            do throws(TapeMiss) {
                let found = try tape.find(Recording("GET", "/a", fields: fields).request)
                return String(decoding: found.response.body, as: UTF8.self)
            } catch {
                return error.description
            }
        }
    }

    @Test(arguments: [TapeOrder.sequence, .first])
    func `each part is for its own range, in whatever order parts are asked for`(order: TapeOrder) throws {
        let folder = try TemporaryFolder()
        let tape = try Self.tape(
            folder,
            of: [
                Self.recording("whole"), Self.recording("0-4", Self.range("0-4"), status: 206),
                Self.recording("5-9", Self.range("5-9"), status: 206),
                Self.recording("none", Self.range("99-"), status: 416),
            ], order: order)
        let asked = ["5-9", "99-", "0-4", "5-9"].map(Self.range)
        #expect(Self.play(tape, asked + [[], Self.range("1-2")]) == ["5-9", "none", "0-4", "5-9", "whole", "whole"])
    }

    @Test func `a part is not given for the whole, and the miss says so`() throws {
        let folder = try TemporaryFolder()
        let tape = try Self.tape(folder, of: [Self.recording("0-4", Self.range("0-4"), status: 206)])
        let reason =
            "\(folder.path) has no recording of GET http://a.example/a among its 1; 0001-GET-a.json differs only in its Range, bytes=0-4"
        #expect(Self.play(tape, [[], Self.range("5-9")]) == [reason, reason])
    }

    @Test func `an answer that ignores the range is for any request`() throws {
        let folder = try TemporaryFolder()
        let tape = try Self.tape(folder, of: [Self.recording("whole", Self.range("0-4"))])
        #expect(Self.play(tape, [[], Self.range("5-9")]) == ["whole", "whole"])
    }

    @Test func `an unchanged state is told to those that have asked for it, in its order`() throws {
        let (folder, old, new) = (
            try TemporaryFolder(), [("If-None-Match", "\"1\"")], [("If-None-Match", "\"2\"")]
        )
        let tape = try Self.tape(
            folder,
            of: [
                Self.recording("one"), Self.recording("", old, status: 304), Self.recording("two", old),
                Self.recording("", new, status: 304),
            ])
        #expect(Self.play(tape, [[], old, old, new]) == ["one", "", "two", ""])
        #expect(Self.play(tape, [[]]) == ["two"])
    }

    @Test func `the date of a condition does not matter, and a client without one gets no 304`() throws {
        let folder = try TemporaryFolder()
        let tape = try Self.tape(
            folder, of: [Self.recording("", [("If-Modified-Since", "Mon, 02 Nov 2026 10:00:00 GMT")], status: 304)])
        #expect(
            Self.play(tape, [[("If-Modified-Since", "Tue, 03 Nov 2026 10:00:00 GMT")], []]) == [
                "",
                "\(folder.path) has no recording of GET http://a.example/a among its 1; 0001-GET-a.json differs only in its conditions, If-Modified-Since",
            ])
    }
}
