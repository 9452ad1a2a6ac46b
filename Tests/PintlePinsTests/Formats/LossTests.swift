// SPDX-License-Identifier: Apache-2.0

import PintlePins
import PintlePolicy
import PintleTesting
import PintleTrust
import Testing

/// Reports of facts that a format cannot express.
struct LossTests {
    @Test func `ports and narrow patterns become wider, and that is said`() throws {
        let set = PinSet(
            name: "p", hosts: [PinnedHost("a.example", port: 8443), PinnedHost("b.example", .below)],
            pins: [try pin(1), try pin(2)])
        for format in [PinFormat.android, .trustkit, .okhttp] {
            let written = try format.write([set])
            #expect(
                written.losses == [
                    "p: the port of a.example:8443: the pins become those of every port",
                    "p: *.b.example alone: \(format.rawValue) has the pins for b.example and everything below it",
                ])
            #expect(
                try format.read(written.text).sets[0].hosts == [
                    PinnedHost("a.example"), PinnedHost("b.example", .itselfAndBelow),
                ])
        }
    }

    @Test func `one label below a host becomes everything below it in a configuration`() throws {
        let set = PinSet(hosts: [PinnedHost("a.example", .oneLabelBelow)], pins: [try pin(1)])
        let written = try PinFormat.pintle.write([set])
        #expect(
            written.losses == [
                "a.example: one label below a.example alone: pintle has the pins for everything below it"
            ])
        #expect(written.text.contains("hosts: [\"*.a.example\"]"))
    }

    @Test func `an expiry keeps its meaning: other clients accept every valid chain then`() throws {
        var set = PinSet(hosts: [PinnedHost("a.example")], pins: [try pin(1), try pin(2)])
        set.expires = UnixTime(day: "2027-01-31")
        let text = try PinFormat.pintle.write(try PinFormat.android.read(try PinFormat.android.write([set]).text).sets)
        #expect(text.losses.isEmpty)
        #expect(text.text.contains("    expires: 2027-01-31\n    on_expiry: system\n"))
        set.onExpiry = .fail
        #expect(try PinFormat.android.write([set]).text.contains("<!-- pintle-on-expiry: fail -->"))
    }

    @Test(arguments: [PinFormat.android, .trustkit])
    func `a time of day is lost where an expiry is a date`(format: PinFormat) throws {
        var set = PinSet(hosts: [PinnedHost("a.example")], pins: [try pin(1), try pin(2)])
        set.expires = UnixTime(iso8601: "2027-01-31T12:00:00Z")
        let written = try format.write([set])
        #expect(
            written.losses == [
                "a.example: the time of 2027-01-31T12:00:00Z: the pins end with the day before, 2027-01-31"
            ])
        #expect(try format.read(written.text).sets[0].expires == UnixTime(day: "2027-01-31"))
        #expect(try PinFormat.sha256.read(try PinFormat.sha256.write([set]).text).sets == [set])
        #expect(try PinFormat.pintle.read(try PinFormat.pintle.write([set]).text).sets == [set])
    }

    @Test(arguments: [PinFormat.android, .trustkit, .okhttp])
    func `networks and the star are refused where only names can be pinned`(format: PinFormat) throws {
        for host in ["*", "10.0.0.0/8", "10.0.0.1"] {
            let set = PinSet(name: "p", hosts: [PinnedHost(host)], pins: [try pin(1)])
            let error = #expect(throws: PinFormatError.self) { try format.write([set]) }
            #expect(
                error?.description
                    == "p: \(format.rawValue) has pins for names only, not for \(host); take it out of the hosts first")
            #expect(error?.kind == .notCarried)
        }
    }

    @Test func `a host with two sets of pins is refused where it can have one`() throws {
        let sets = [
            PinSet(name: "a", hosts: [PinnedHost("a.example")], pins: [try pin(1)]),
            PinSet(name: "b", hosts: [PinnedHost("a.example")], pins: [try pin(2)]),
        ]
        for format in [PinFormat.android, .trustkit, .okhttp, .pintle] {
            let error = #expect(throws: PinFormatError.self) { try format.write(sets) }
            #expect(error?.description.hasPrefix("a.example has two sets of pins, a and b;") == true)
        }
        #expect(try PinFormat.sha256.read(try PinFormat.sha256.write(sets).text).sets == sets)
    }

    @Test(arguments: [PinFormat.android, .trustkit, .okhttp])
    func `LOOK-59 sets of one name are refused where they would have one entry`(format: PinFormat) throws {
        func sets(_ first: String, _ second: String) throws -> [PinSet] {
            try [first, second].enumerated().map { number, host in
                let host = try #require(PinnedHost(host[...]))
                return PinSet(name: "p\(number)", hosts: [host], pins: [try pin(UInt8(number)), try pin(9)])
            }
        }
        // OkHttp has patterns, so names below a host have a separate entry.
        var refused = [["a.example:443", "a.example:8443"], ["*.a.example:1", "*.a.example:2"]]
        if format != .okhttp { refused += [["a.example", "*.a.example"], ["a.example", "+.a.example"]] }
        for hosts in refused {
            let error = #expect(throws: PinFormatError.self) { try format.write(try sets(hosts[0], hosts[1])) }
            #expect(
                error?.description
                    == "a.example has two sets of pins, p0 and p1, whose ports or names below it differ; "
                    + "\(format.rawValue) has one for a name: put them together first")
            #expect(error?.kind == .notCarried)
        }
        let apart = try sets("a.example", format == .okhttp ? "+.a.example" : "b.example")
        #expect(try format.read(try format.write(apart).text).sets.count == 2)
    }

    @Test func `TrustKit's demand for two pins is pointed out`() throws {
        let set = PinSet(hosts: [PinnedHost("a.example")], pins: [try pin(1)])
        #expect(
            try PinFormat.trustkit.write([set]).losses == [
                "a.example: TrustKit refuses to start with a single pin; add one of a backup key"
            ])
    }

    @Test func `names are made fit, and distinct`() throws {
        let pinned = try ["default", "10.0.0.0/8", "system", "2001:db8::1"].enumerated().map { index, host in
            PinSet(hosts: [PinnedHost(host)], pins: [try pin(UInt8(index))])
        }
        let text = try PinFormat.pintle.write(pinned).text
        for name in ["default-host", "\"10.0.0.0-8\"", "system-2", "\"2001-db8--1\""] {
            #expect(text.contains("\n  \(name):\n"), "\(text)")
        }
        #expect(Set(try PinFormat.pintle.read(text).sets.map(\.pins)) == Set(pinned.map(\.pins)))
    }

    @Test func `certificates are written back as they were, digests are not`() throws {
        let pki = TestPKI()
        let (root, folder) = (try pki.root("../Root\u{1B}"), try TemporaryFolder())
        let leaf = try pki.leaf("leaf", dns: ["a.example"], signedBy: root)
        try folder.write(leaf.certificate.der, to: "certs/a.cer")
        try folder.write(leaf.certificatePEM + root.certificatePEM, to: "certs/b.pem")
        let content = try PinFormat.cer.read(path: "\(folder.path)/certs", .system(environment: [:]))
        let (files, losses) = try CertificateFolder.files(content.sets)
        #expect(losses.isEmpty)
        #expect(files.map(\.bytes) == [leaf.certificate.der, root.certificate.der])
        #expect(files[0].name == "leaf.cer" && files[1].name.allSatisfy { $0.isASCII && $0 != "/" && $0 != "\u{1B}" })
        #expect(content.sets[0].pins == [leaf.pin, root.pin])

        let configuration = try PinFormat.pintle.write(content.sets).text
        let read = try PinFormat.pintle.read(
            Array(configuration.utf8), file: "p", .system(environment: [:]))
        #expect(try CertificateFolder.files(read.sets).files == files)

        let error = #expect(throws: PinFormatError.self) {
            try CertificateFolder.files(try PinFormat.sha256.read("\(try pin(1))").sets)
        }
        #expect(error?.kind == .notCarried)
    }
}
