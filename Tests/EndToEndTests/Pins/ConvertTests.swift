// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// `pintle pins convert`, beside the programs whose formats it writes.
@Suite struct PinsConvertTests {
    private static let texts = ["sha256", "curl", "hpkp", "trustkit", "android", "okhttp", "envoy", "pintle"]
    private static let certificates = try? OpenSSLCertificates()

    private let certificates: OpenSSLCertificates
    private var folder: String { self.certificates.folder.path }

    init() throws { self.certificates = try #require(Self.certificates) }

    private func convert(_ from: String, _ to: String, _ text: String) throws -> String {
        let folder = try TemporaryFolder()
        let process = try pins("convert", "--from", from, "--to", to, try folder.write(text, to: "file"))
        try #require(process.exitCode == 0, "\(from) to \(to): \(process.errors)")
        return process.output.joined(separator: "\n") + "\n"
    }

    @Test(arguments: texts)
    func `certificates become the pins that openssl computes, and come back from every format`(format: String) throws {
        let process = try pins("convert", "--from", "cer", "--to", format, "\(self.folder)/certs")
        #expect(process.exitCode == 0, "\(process.errors)")
        let text = process.output.joined(separator: "\n") + "\n"
        for pin in self.certificates.list { #expect(text.contains(pin.dropFirst("sha256/".count)), "\(text)") }
        #expect(try self.convert(format, "sha256", text) == self.certificates.list.joined(separator: "\n") + "\n")
        for other in Self.texts {
            let back = try self.convert(other, format, try self.convert(format, other, text))
            // Only Pintle's own format keeps the certificates.
            #expect(back == (other == "pintle" ? text : self.plain(text, format)), "\(other)")
        }
    }

    /// Returns the rest of a configuration whose certificates became digests.
    private func plain(_ text: String, _ format: String) -> String {
        guard format == "pintle" else { return text }
        let lines = text.split(separator: "\n").prefix { !$0.contains("certificates:") }
        return lines.map { line in line.split(separator: "  #").first.map(String.init) ?? "" }.joined(separator: "\n")
            + "\n"
    }

    @Test func `curl lets a server in by what is written for it, and no other`() throws {
        let file = try self.certificates.folder.write(self.certificates.pins["ec"] ?? "", to: "ec.pins")
        let value = try pins("convert", "--from", "sha256", "--to", "curl", file).output[0]
        for (kind, code) in [("ec", Int32(0)), ("rsa", 90)] {
            let server = try ChildProcess(
                "/usr/bin/openssl",
                [
                    "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", "\(self.folder)/\(kind).pem", "-key",
                    "\(self.folder)/\(kind).key",
                ])
            let line = try server.waitForLine("its address") { $0.hasPrefix("ACCEPT") }
            let port = line.split(separator: ":").last ?? ""
            let client = try ChildProcess(
                "/usr/bin/curl",
                ["-s", "-o", "/dev/null", "--insecure", "--pinnedpubkey", value, "https://127.0.0.1:\(port)/"])
            #expect(try client.waitForExit() == code, "\(kind): \(value)")
        }
    }

    @Test func `python reads the property list and the XML that are written`() throws {
        let list = try self.certificates.folder.write(
            "# pintle-hosts: api.example, *.api.example, a--b.example\n# pintle-expires: 2030-01-31\n"
                + self.certificates.list.joined(separator: "\n"), to: "list")
        let plist = try pins("convert", "--from", "sha256", "--to", "trustkit", list).output.joined(separator: "\n")
        let domains = try ShellFilter.run(
            """
            python3 -c 'import plistlib, sys
            for name, d in sorted(plistlib.load(sys.stdin.buffer)["TSKPinnedDomains"].items()):
                words = [name, str(d["TSKIncludeSubdomains"]), d["TSKExpirationDate"], *d["TSKPublicKeyHashes"]]
                sys.stdout.write(" ".join(words) + "\\n")'
            """, Array(plist.utf8))
        let keys = self.certificates.list.map { $0.dropFirst("sha256/".count) }.joined(separator: " ")
        #expect(
            String(decoding: domains, as: UTF8.self)
                == "a--b.example False 2030-01-31 \(keys)\napi.example True 2030-01-31 \(keys)\n")

        let xml = try pins("convert", "--from", "trustkit", "--to", "android", self.file(plist)).output
        let configuration = try ShellFilter.run(
            """
            python3 -c 'import sys, xml.etree.ElementTree as e
            for c in e.parse(sys.stdin).getroot():
                words = [d.text + " " + d.get("includeSubdomains") for d in c.iter("domain")]
                words += [c.find("pin-set").get("expiration"), *[p.text for p in c.iter("pin")]]
                sys.stdout.write(" ".join(words) + "\\n")'
            """, Array(xml.joined(separator: "\n").utf8))
        #expect(
            String(decoding: configuration, as: UTF8.self)
                == "a--b.example false api.example true 2030-01-31 \(keys)\n")
    }

    @Test func `a binary property list is read like an XML one`() throws {
        let xml = try pins("convert", "--from", "cer", "--to", "trustkit", "\(self.folder)/certs").output
        let binary = try ShellFilter.run(
            "python3 -c 'import plistlib, sys; plistlib.dump(plistlib.load(sys.stdin.buffer), sys.stdout.buffer, "
                + "fmt=plistlib.FMT_BINARY)'", Array(xml.joined(separator: "\n").utf8))
        let path = try self.certificates.folder.write(binary, to: "binary.plist")
        #expect(try pins("convert", "--from", "trustkit", "--to", "sha256", path).output == self.certificates.list)
    }

    private func file(_ text: String) throws -> String {
        try self.certificates.folder.write(text, to: "written-\(UInt64.random(in: 0...UInt64.max))")
    }

    @Test func `check accepts the configuration that is written`() throws {
        let folder = try TemporaryFolder()
        let process = try pins(
            "convert", "--from", "cer", "--to", "pintle", "--host", "api.example", "\(self.folder)/certs")
        #expect(process.exitCode == 0 && process.errors.isEmpty, "\(process.errors)")
        let file = try folder.write(process.output.joined(separator: "\n"), to: "pintle.yaml")
        let check = try PintleProcess.run(["check", "-c", file])
        #expect(check.exitCode == 0 && check.output.isEmpty, "\(check.lines)")
        let lint = try pins("lint", "-c", file)
        #expect(lint.exitCode == 0 && lint.output.isEmpty, "\(lint.lines)")
    }

    @Test func `certificates are written into a folder, and nothing in it is replaced`() throws {
        let folder = try TemporaryFolder()
        let out = "\(folder.path)/out"
        let arguments = ["pins", "convert", "--from", "cer", "--to", "cer", "--out", out, "\(self.folder)/certs"]
        let first = try PintleProcess.run(arguments)
        #expect(first.exitCode == 0 && first.output.isEmpty, "\(first.errors)")
        let same = try ShellFilter.run("diff -r -x .keep \(self.folder)/certs \(out)")
        #expect(same.isEmpty)
        let second = try PintleProcess.run(arguments)
        #expect(second.exitCode == 4)
        #expect(
            second.errors == ["pintle pins convert: \(out)/ec.cer is there already; name an empty folder with --out"])
    }

    @Test(arguments: [
        (["--from", "sha256", "--to", "pem", "x"], Int32(2), "The value 'pem' is invalid for '--to"),
        (["--from", "sha256", "--to", "cer", "x"], 2, "--to cer needs --out"),
        (["--from", "sha256", "--to", "curl", "--out", "x", "x"], 2, "--out is for --to cer"),
        (["--from", "sha256", "--to", "curl", "/nonexistent"], 4, "there is no file /nonexistent"),
        (["--from", "cer", "--to", "curl", "/nonexistent"], 4, "/nonexistent: cannot be read"),
        (["--from", "sha256", "--to", "curl", "/dev/null"], 3, "/dev/null: there is no pin in it"),
        (["--from", "sha256", "--to", "curl", "--host", "a b", "/dev/null"], 3, "/dev/null: there is no pin in it"),
    ])
    func `what cannot be done ends with its code and its reason`(arguments: [String], code: Int32, words: String) throws
    {
        let process = try PintleProcess.run(["pins", "convert"] + arguments)
        #expect(process.exitCode == code && process.output.isEmpty)
        #expect(process.errors.contains { $0.contains(words) }, "\(process.errors)")
    }

    @Test func `hosts can be named where there are none, and only there`() throws {
        let list = try self.certificates.folder.write(self.certificates.list[0], to: "one")
        let process = try pins(
            "convert", "--from", "sha256", "--to", "android", "--host", "a.example", "--host", "*.a.example", list)
        #expect(process.errors.isEmpty)
        #expect(process.output.contains { $0.contains("<domain includeSubdomains=\"true\">a.example</domain>") })
        let named = try self.file(process.output.joined(separator: "\n"))
        let again = try pins("convert", "--from", "android", "--to", "curl", "--host", "b.example", named)
        #expect(again.exitCode == 2)
        #expect(again.errors == ["pintle pins convert: --host: the file names the hosts of all its pins"])
    }

    @Test func `what is lost is said on standard error, and can be left out on purpose`() throws {
        let list = try self.certificates.folder.write(
            "# pintle-hosts: a.example\n\(self.certificates.list[0])", to: "named")
        let noted = try pins("convert", "--from", "sha256", "--to", "curl", list)
        #expect(noted.errors.isEmpty && noted.output[0] == "# pintle-hosts: a.example")
        let bare = try pins("convert", "--from", "sha256", "--to", "curl", "--bare", list)
        #expect(bare.output.count == 1 && bare.output[0].hasPrefix("sha256//"))
        #expect(
            bare.errors == ["pintle pins convert: not carried: a.example: hosts a.example: curl has no place for it"])
    }
}
