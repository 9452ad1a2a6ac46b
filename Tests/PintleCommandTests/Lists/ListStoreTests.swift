// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleActivity
import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

@testable import pintle

/// The copies of lists that other machines keep.
struct ListStoreTests {
    private let folder: TemporaryFolder
    private let url: HTTPURL
    private var store: ListStore { ListStore(path: "\(self.folder.path)/state/pintle/lists") }

    init() throws {
        self.folder = try TemporaryFolder()
        self.url = try HTTPURL("https://lists.example/partners.txt?x=1")
    }

    private func copy(_ text: String = "a.example\n\n# b\n", tag: String? = "W/\"1\"") -> ListCopy {
        ListCopy(
            url: self.url.description, text: Array(text.utf8), entityTag: tag,
            lastModified: "Sun, 29 Nov 2026 00:00:00 GMT", confirmed: Timestamp(milliseconds: 1_795_900_000_123))
    }

    /// The one file of the store.
    private func file() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: try #require(self.store.path))
        #expect(names.count == 1, "nothing is left beside the copy: \(names)")
        return "\(try #require(self.store.path))/\(try #require(names.first))"
    }

    @Test func `a copy is read as it was written, and replaced`() throws {
        #expect(self.store.read(self.url) == nil)
        try self.store.write(self.copy(), of: self.url)
        #expect(self.store.read(self.url) == self.copy())
        let other = self.copy("b.example", tag: nil)
        try self.store.write(other, of: self.url)
        #expect(self.store.read(self.url) == other)
        var status = stat()
        #expect(stat(try self.file(), &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(try #require(self.store.path), &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(self.store.read(try HTTPURL("https://lists.example/partners.txt")) == nil)
    }

    @Test func `every damaged copy counts as none`() throws {
        try self.store.write(self.copy(), of: self.url)
        let file = try self.file()
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            // The facts that are no part of the text have no digest; they only save a request, or cause one.
            guard let read = ListCopy(stored: damaged) else { continue }
            #expect(read.text == self.copy().text, "byte \(index)")
            #expect(ListCopy(stored: Array(bytes.prefix(index))) == nil, "cut at \(index)")
        }
        try Data(bytes.dropLast()).write(to: URL(fileURLWithPath: file))
        #expect(self.store.read(self.url) == nil)
    }

    @Test func `random bytes are no copy`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...127, using: &random)
            }
            #expect(ListCopy(stored: Array("Pintle list 1\n".utf8) + bytes) == nil)
        }
    }

    @Test func `a copy of another URL, a link, and a file that others may change count as none`() throws {
        try self.store.write(self.copy(), of: self.url)
        let file = try self.file()
        chmod(file, 0o666)
        #expect(self.store.read(self.url) == nil)
        chmod(file, 0o600)
        #expect(self.store.read(self.url) != nil)
        rename(file, "\(self.folder.path)/elsewhere")
        symlink("\(self.folder.path)/elsewhere", file)
        #expect(self.store.read(self.url) == nil)
        // A later copy takes the place of the link, and leaves its target alone.
        try self.store.write(self.copy("c.example\n"), of: self.url)
        #expect(self.store.read(self.url)?.text == Array("c.example\n".utf8))
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(self.folder.path)/elsewhere")).count > 20)
        var foreign = self.copy()
        foreign = ListCopy(
            url: "https://other.example/", text: foreign.text, entityTag: nil, lastModified: nil,
            confirmed: foreign.confirmed)
        try self.store.write(foreign, of: self.url)
        #expect(self.store.read(self.url) == nil)
    }

    @Test func `without a folder nothing is kept, and that is said`() throws {
        let nowhere = ListStore(path: nil)
        #expect(nowhere.read(self.url) == nil)
        #expect(throws: ListFailure.self) { try nowhere.write(self.copy(), of: self.url) }
        let blocked = ListStore(path: try self.folder.write("x", to: "file") + "/lists")
        #expect(throws: ListFailure.self) { try blocked.write(self.copy(), of: self.url) }
    }

    @Test func `the age of a copy decides, and a clock that was set back makes it old`() {
        let copy = self.copy()
        func time(_ milliseconds: Int64) -> Timestamp {
            Timestamp(milliseconds: copy.confirmed.milliseconds + milliseconds)
        }
        #expect(copy.isYoung(at: time(0), every: .seconds(1)))
        #expect(copy.isYoung(at: time(999), every: .seconds(1)))
        #expect(!copy.isYoung(at: time(1000), every: .seconds(1)))
        #expect(!copy.isYoung(at: time(-1), every: .seconds(1)))
        #expect(copy.confirmed(at: time(5)).age(at: time(7)) == .milliseconds(2))
    }

    @Test func `a long validator is not kept`() {
        let long = "\"" + String(repeating: "x", count: 2000) + "\""
        #expect(self.copy(tag: long).entityTag == nil)
    }

    // MARK: Times

    private var fetch: ListFetch {
        get throws {
            let yaml = "version: 1\nlists: {a: {url: \"https://a.test/\", every: 100s}}"
            let draft = try PolicyLoader.draft(
                yaml: Array(yaml.utf8), file: "pintle.yaml", surroundings: .system(environment: [:]))
            return try #require(draft.fetches.first)
        }
    }

    @Test func `a list is asked for a little early, and not at the same time by all`() throws {
        let fetch = try self.fetch
        let pauses = (0..<200).map { _ in ListPause.next(fetch, .seconds(10)) }
        #expect(pauses.allSatisfy { $0 >= .seconds(80) && $0 <= .seconds(90) } && Set(pauses).count > 100)
        #expect(ListPause.next(fetch, .seconds(1000)) > .zero)
        #expect(ListPause.first(fetch, .seconds(10)) <= .seconds(90))
        for age in [nil, Duration.seconds(100)] {
            let pause = ListPause.first(fetch, age)
            #expect(pause >= .seconds(54) && pause <= .seconds(60), "a copy that was not renewed is asked for soon")
        }
    }
}
