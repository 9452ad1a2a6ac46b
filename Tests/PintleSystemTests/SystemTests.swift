// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleSystem
import PintleTesting
import Testing

@Suite struct SystemErrorTests {
    @Test func `LOOK-50 what the system refuses is told in words of our own`() {
        #expect("\(SystemError(ENOENT))" == "no such file or folder")
        #expect("\(SystemError(EADDRINUSE))" == "address already in use")
        #expect("\(SystemError(4711))" == "the system's error 4711")
    }
}

@Suite struct ShowableTextTests {
    @Test(arguments: [
        ("plain “quoted” ü 日本", "plain “quoted” ü 日本"), ("a\u{9B}2Jb", "a\\u009b2Jb"), ("\u{202E}x", "\\u202ex"),
        ("a\u{2028}b", "a\\u2028b"), ("\u{1B}[2J\u{7F}", "\\u001b[2J\\u007f"), ("\u{E0041}", "\\udb40\\udc41"),
        ("two\nlines", "two\\u000alines"), ("", ""),
    ])
    func `LOOK-53 what steers terminals or turns the writing is escaped`(text: String, shown: String) {
        #expect(text.showable(keepingLines: false) == shown)
    }

    @Test func `line feeds stay where they are wanted`() {
        #expect("a\nb\r\n\u{85}".showable(keepingLines: true) == "a\nb\\u000d\n\\u0085")
    }

    @Test(arguments: [
        ("unknown key “open”; it’s – so…", "unknown key 'open'; it's - so..."), ("ü", "?"), ("a\"b\\", "a\"b\\"),
        ("a\r\nb", "a??b"),
    ])
    func `LOOK-50 where ASCII alone may stand, quotation marks and dashes have its form`(text: String, plain: String) {
        #expect(text.asASCII == plain)
    }
}

@Suite struct FileWritingTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func failure(_ body: () throws(SystemError) -> Void) -> Int32? {
        do throws(SystemError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a file is replaced whole, and nothing is left beside it`() throws {
        let path = "\(self.folder.path)/a"
        for text in ["one", "two"] {
            try FileWriting.replace(path, with: Array(text.utf8))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder.path) == ["a"])
    }

    @Test func `what cannot be written says why`() throws {
        let path = self.folder.path
        #expect(self.failure { () throws(SystemError) in try FileWriting.replace(path, with: []) } == EISDIR)
        #expect(self.failure { () throws(SystemError) in try FileWriting.replace("\(path)/no/a", with: []) } == ENOENT)
        #expect(self.failure { () throws(SystemError) in try FileWriting.replace("/dev/full", with: [1]) } == ENOSPC)
        try FileWriting.create("\(path)/once", with: [1])
        #expect(self.failure { () throws(SystemError) in try FileWriting.create("\(path)/once", with: []) } == EEXIST)
        #expect(self.failure { () throws(SystemError) in try FileWriting.makeFolder("\(path)/once/a") } == ENOTDIR)
    }

    @Test func `a folder is made with those above it`() throws {
        let path = "\(self.folder.path)/a/b/c"
        for _ in 0..<2 { try FileWriting.makeFolder(path, mode: 0o700) }
        try FileWriting.replace("\(path)/x", with: [1])
    }
}
