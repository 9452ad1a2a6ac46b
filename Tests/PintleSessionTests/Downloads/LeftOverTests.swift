// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Files that a killed process, or another program, has left at the place where a download grows.
@Suite(.timeLimit(.minutes(15))) struct LeftOverTests {
    let stage: SessionStage
    let folder: TemporaryFolder
    let origin: RawOrigin
    let left: LeftOver
    private static let whole = "0123456789"

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin { connection in
            while true {
                let seen = try connection.readRequest()
                let offset = seen["Range"].flatMap { Int($0.dropFirst(6).dropLast()) }
                guard let offset, offset < 10, seen["If-Range"] == "\"v1\"" else {
                    try connection.send(response(Self.whole, fields: "ETag: \"v1\"\r\n"))
                    continue
                }
                try connection.send(
                    "HTTP/1.1 206 Partial\r\nContent-Range: bytes \(offset)-9/10\r\nETag: \"v1\"\r\n"
                        + "Content-Length: \(10 - offset)\r\n\r\n\(Self.whole.dropFirst(offset))")
            }
        }
        self.left = LeftOver(in: self.folder, of: self.origin.port)
    }

    private func download(resuming: Bool = true) async throws -> TaskResult {
        try await self.stage.session.download(
            request(self.origin.port, "/big"), to: .file(self.folder.path("out"), resuming: resuming))
    }

    private var text: String? { self.folder.bytes("out").map { String(decoding: $0, as: UTF8.self) } }

    @Test func `what was noted is gone on with, and what came behind it is not believed`() async throws {
        try self.left.write(Array("01234GARBAGE BEHIND IT".utf8), noted: 5, length: 10)
        #expect(try await self.download().response.status == 206)
        #expect(self.text == Self.whole && self.folder.names == ["out"])
        #expect(self.origin.requests.map { $0["Range"] } == ["bytes=5-"])
    }

    @Test func `a download that is not to be resumed takes no notice`() async throws {
        try self.left.write(Array("XXXXXXXXXXXXXXXXX".utf8), noted: 5, length: 10)
        #expect(try await self.download(resuming: false).response.status == 200)
        #expect(self.text == Self.whole && self.origin.requests[0]["Range"] == nil && self.folder.names == ["out"])
    }

    @Test func `other methods take no notice`() async throws {
        try self.left.write(Array("01234".utf8), length: 10)
        _ = try await self.stage.session.download(
            request(self.origin.port, "/big", method: "POST"), to: .file(self.folder.path("out")))
        #expect(self.text == Self.whole && self.origin.requests[0]["Range"] == nil)
    }

    /// A note that must not be believed.
    enum Damage: String, Sendable, CaseIterable {
        case otherURL, otherFile, beyondTheFile, huge, zero, validatorHasLines
        case missing, empty, cut, noJSON, noObject, negative, fraction, noOffset, noValidator, validatorIsNumber, binary

        /// True if a download may have written it.
        var isNote: Bool { [.otherURL, .otherFile, .beyondTheFile, .huge, .zero, .validatorHasLines].contains(self) }
    }

    @Test(arguments: Damage.allCases)
    func `a note that makes no sense is not believed`(damage: Damage) async throws {
        try self.left.write(Array("XXXXXXXX".utf8), noted: 5)
        switch damage {
        case .missing: try self.folder.remove("out.part.json")
        case .empty: try self.folder.write("", to: "out.part.json")
        case .cut: try self.folder.write(#"{"file":"\#(self.left.file)","off"#, to: "out.part.json")
        case .noJSON: try self.folder.write("offset: 5", to: "out.part.json")
        case .noObject: try self.folder.write("[5]", to: "out.part.json")
        case .otherURL: try self.left.note(5, url: self.left.url + "?")
        case .otherFile: try self.left.note(5, file: "\(self.folder.path)/other.part")
        case .beyondTheFile: try self.left.note(9)
        case .negative: try self.left.note(-5)
        case .huge: try self.left.note(UInt64.max)
        case .fraction: try self.left.note(4.5)
        case .zero: try self.left.note(0)
        case .noOffset: try self.left.note("5")
        case .noValidator: try self.left.note(5, validator: [String]())
        case .validatorIsNumber: try self.left.note(5, validator: 1)
        case .validatorHasLines: try self.left.note(5, validator: "\"v1\"\r\nX-Smuggled: yes")
        case .binary: try self.folder.write([0, 0xFF, 0xFE, 0x7B], to: "out.part.json")
        }
        guard damage.isNote else {
            let names = self.folder.names
            let error = await sessionError { _ = try await self.download() }
            #expect(error?.code == .cannotWrite && error?.message.hasPrefix("\(self.left.file) is in the way") == true)
            #expect(self.folder.names == names && self.folder.bytes("out.part") == Array("XXXXXXXX".utf8))
            #expect(self.origin.connections.isEmpty)
            return
        }
        #expect(try await self.download().response.status == 200)
        #expect(self.text == Self.whole && self.folder.names == ["out"])
        let seen = self.origin.requests[0]
        #expect(self.origin.requests.count == 1 && seen["Range"] == nil && seen["X-Smuggled"] == nil)
    }

    @Test func `a length that does not agree begins again`() async throws {
        try self.left.write(Array("XXXXX".utf8), length: Int.max)
        #expect(try await self.download().response.status == 200)
        #expect(self.text == Self.whole && self.origin.requests.count == 2)
    }

    @Test func `an empty file without a note is begun again`() async throws {
        try self.folder.write("", to: "out.part")
        #expect(try await self.download().response.status == 200)
        #expect(self.text == Self.whole && self.folder.names == ["out"])
    }

    @Test func `a note without its file is not believed`() async throws {
        try self.left.note(5)
        #expect(try await self.download().response.status == 200)
        #expect(self.text == Self.whole && self.folder.names == ["out"])
    }

    @Test func `a file that was whole when the process was killed is asked for once more`() async throws {
        try self.left.write(Array(Self.whole.utf8), length: 10)
        #expect(try await self.download().response.status == 200)
        #expect(self.text == Self.whole && self.folder.names == ["out"])
    }
}
