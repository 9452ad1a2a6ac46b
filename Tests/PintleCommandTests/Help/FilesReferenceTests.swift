// SPDX-License-Identifier: Apache-2.0

import PintleSystem
import Testing

@testable import pintle

/// The paths that the reference tells, compared with those of the code.
struct FilesReferenceTests {
    @Test func `files that Pintle makes are told, and every told one is made`() throws {
        let made =
            UserFile.allCases.map(\.shown) + PrivateFolder.allCases.map(\.shown) + CompanionFile.allCases.map(\.shown)
        let told = ReferencePages.files.terms.filter { $0.hasPrefix("$") || $0.hasPrefix("FILE") }
        #expect(told.sorted() == made.sorted())
    }

    @Test(arguments: [
        ("\"XDG_", "UserFile"), ("mkdtemp(", "PrivateFolder"), ("\\(self.name)/\"", "PrivateFolder"),
        (".lock\"", "CompanionFile"), (".part\"", "CompanionFile"), (".tmp\"", "CompanionFile"),
        ("audit.sqlite\"", "UserFile"), ("PID.sock", "UserFile"), (".token\"", "UserFile"), ("ca/ca.pem", "UserFile"),
        ("ca.key\"", "UserFile"), ("/pintle\"", "UserFile"), ("-wal\"", "CompanionFile"), ("-shm\"", "CompanionFile"),
    ])
    func `the forms of their names stand in one place`(form: String, type: String) throws {
        let places = try Repository.sources().filter { Self.code(of: $0).contains(form) }
        #expect(places.count == 1 && places.allSatisfy { $0.contains("enum \(type)") }, "\(form)")
    }

    @Test func `paths of the system are told, and every told one is in the code`() throws {
        let sources = try Repository.sources([".swift", ".c", ".h"])
        let known = Set(sources.flatMap(Self.systemPaths)).subtracting(Self.named)
        #expect(known.count > 20)
        let told = Self.paths("Of the system") + Self.paths("Of the kernel")
        #expect(known.filter { path in !told.contains { Self.isTold(path, by: $0) } } == [], "the reference lacks them")
        let unknown = told.filter { path in !known.contains { Self.isTold($0, by: path) } }
        #expect(unknown == [], "no code has them")
    }

    @Test func `paths of the packages are those of the service`() throws {
        let unit = try Repository.text("conf/systemd/pintle.service")
        let named = unit.matches(of: #/\/(?:etc|run|var\/lib|var\/log)\/pintle[\w.\/]*/#).map { String($0.0) }
        let told = Self.paths("Of the packages")
        #expect(named.filter { path in !told.contains { path.hasPrefix($0) } } == [])
        #expect(told.filter { path in !named.contains { $0.hasPrefix(path) } } == [])
    }

    @Test func `every source that makes files is known, with what the reference tells of them`() throws {
        let form = /O_CREAT|O_TMPFILE|mkdtemp\(|mkdir\(|FileWriting\.(?:replace|create|makeFolder)/
        let making = try Repository.named().filter { Self.code(of: $0.text).contains(form) }.map(\.name)
        #expect(making.sorted() == Self.makers.keys.sorted())
        let told = Set(ReferencePages.files.terms)
        for (name, terms) in Self.makers { #expect(Set(terms).subtracting(told) == [], "\(name)") }
    }

    // MARK: Support

    /// The sources that make files and folders, each with its entries; none if they do it for others, or if an option or a
    /// variable names the path.
    private static let makers: [String: [String]] = [
        "AuthorityFolder.swift": [UserFile.certificate.shown, UserFile.key.shown],
        "LineOutput.swift": ["log.exchanges"],
        "SpoolFile.swift": [CompanionFile.temporary.shown],
        "SystemPaths.swift": [],
        "FileWriting.swift": [CompanionFile.temporary.shown],
        "CacheFolder.swift": [UserFile.cache.shown, CompanionFile.changes.shown, CompanionFile.changeIndex.shown],
        "BodyFile.swift": [UserFile.cache.shown],
        "TapeFolder+Writing.swift": ["recordings.path"],
        // Programs that use the library name it.
        "CookieFile.swift": [],
        "DownloadFile.swift": [CompanionFile.part.shown],
        "FileMove.swift": [CompanionFile.part.shown],
        "PartialDownload.swift": [CompanionFile.note.shown],
        "ExchangeLedger.swift": [],
        "UnixSocketFile.swift": ["unix:PATH", CompanionFile.lock.shown],
        "Init.swift": ["./pintle.yaml"],
        "BuildServer.swift": [],
        "RunLearning.swift": ["NAME.schemas/"],
        "PrivateFolder.swift": PrivateFolder.allCases.map(\.shown),
        "NameFiles.swift": [PrivateFolder.names.shown],
        "CredentialFiles.swift": [PrivateFolder.credentials.shown],
        "RunOutcome.swift": [],
        "PinsConvert.swift": [],
        "TestCommand.swift": [],
        "ClientRun.swift": [PrivateFolder.doctor.shown],
        "DoctorStage.swift": [PrivateFolder.doctor.shown],
        "TrustFiles.swift": [UserFile.trust.shown, PrivateFolder.run.shown],
        "Audit.swift": [],
        "Convert.swift": [],
        "CAExport.swift": [],
        "ListStore.swift": [UserFile.lists.shown],
        "Service.swift": ["--port-file FILE"],
        "AdminServer.swift": [UserFile.token.shown],
        "HistoryFile.swift": [
            UserFile.history.shown, CompanionFile.damaged.shown, CompanionFile.changes.shown, CompanionFile.lock.shown,
        ],
    ]

    /// The beginnings of arguments, which lead to no file here.
    private static let named: Set<String> = ["/dev/fd/", "/sys/fs/cgroup/"]

    /// The paths of a section, one for each.
    private static func paths(_ title: String) -> [String] {
        let section = ReferencePages.files.sections.first { $0.title == title }
        let paths = section?.entries.flatMap { $0.term.split(separator: ", ").map(String.init) } ?? []
        return paths.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// A source without its comments.
    private static func code(of source: String) -> String {
        source.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
    }

    /// The literals that are paths of the system, with a star for each value that is put into them.
    private static func systemPaths(in source: String) -> [String] {
        let form =
            #/"(\/(?:etc|proc|sys|dev|run|var|tmp)(?:\/(?:[^"\\]|\\\((?:[^()"]|\([^()]*\)|"[^"]*")*\))*)?)"/#
        let value = #/\\\((?:[^()"]|\([^()]*\)|"[^"]*")*\)/#
        return Self.code(of: source).matches(of: form).map { String($0.1).replacing(value, with: "*") }
    }

    /// True if a path of the code is the told one, or leads into it. A star is any name, and the last one any rest.
    private static func isTold(_ path: String, by told: String) -> Bool {
        let (parts, names) = (path.split(separator: "/"), told.split(separator: "/"))
        guard zip(parts, names).allSatisfy({ $0 == "*" || $0 == $1 }) else { return false }
        if parts.count < names.count { return parts.last == "*" }
        return parts.dropFirst(names.count).allSatisfy { $0 == "*" }
    }
}
