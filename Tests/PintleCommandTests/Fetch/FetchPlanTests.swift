// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import PintleTrust
import Testing

@testable import pintle

/// The meaning of command lines of `fetch`.
struct FetchPlanTests {
    private let pin = "sha256/" + String(repeating: "A", count: 43) + "="

    @Test func `a URL alone is a GET to standard output`() throws {
        let plan = try fetchPlan("http://a.test/x")
        #expect(plan.targets.count == 1 && plan.request.method == "GET")
        #expect(plan.request.url.description == "http://a.test/x" && plan.output == .standardOutput)
        #expect(plan.request.fields == ["User-Agent": "pintle/\(Version.number)", "Accept": "*/*"])
        #expect(plan.contract == ResponseContract() && !plan.hasExpectations)
        #expect(plan.policy.pinning == .none && plan.width == 1 && plan.request.throttle == nil)
        #expect(plan.bytes == nil)
    }

    @Test func `a method stands before the URL and is sent as it is written`() throws {
        #expect(try fetchPlan("DELETE", "http://a.test/").request.method == "DELETE")
        #expect(try fetchPlan("M-SEARCH", "http://a.test/").request.method == "M-SEARCH")
        #expect(try fetchPlan("http://a.test/", "--param", "a=1").request.method == "GET")
        #expect(try fetchPlan("http://a.test/", "--form", "a=1").request.method == "POST")
        #expect(try fetchPlan("http://a.test/", "--json", "-").request.method == "POST")
        #expect(try fetchPlan("http://a.test/", "--param", "a=1", "--serialize", "json").request.method == "POST")
        #expect(try fetchPlan("PUT", "http://a.test/", "--form", "a=1").request.method == "PUT")
    }

    @Test(arguments: ["GET", "HEAD", "DELETE"])
    func `parameters of these methods go into the query`(method: String) throws {
        let plan = try fetchPlan(method, "http://a.test/x?y=0", "--param", "a=1", "--param", "b=x y&", "--param", "a=2")
        #expect(plan.request.url.description == "http://a.test/x?y=0&a=1&a=2&b=x%20y%26")
        #expect(plan.bytes == nil && !plan.request.fields.contains("Content-Type"))
    }

    @Test func `parameters of other methods are the body that --serialize says`() throws {
        let parameters = ["POST", "http://a.test/", "--param", "a=1", "--param", "b=ä", "--param", "a=2"]
        let http = try fetchPlan(parameters)
        #expect(http.bytes == "a=1&a=2&b=%C3%A4")
        #expect(http.request.fields["Content-Type"] == "application/x-www-form-urlencoded")
        let json = try fetchPlan(parameters + ["--serialize", "json"])
        #expect(json.bytes == #"{"a":["1","2"],"b":"ä"}"#)
        #expect(json.request.fields["Content-Type"] == "application/json")
        let plist = try fetchPlan(parameters + ["--serialize", "plist"])
        #expect(plist.bytes?.contains("<key>b</key>") == true)
        #expect(plist.request.fields["Content-Type"] == "application/x-plist")
        guard case .form(let form) = try fetchPlan(parameters + ["--serialize", "multipart"]).body else {
            Issue.record("no form")
            return
        }
        #expect(form.parts.count == 3)
    }

    @Test func `a form is urlencoded in its order, and multipart when it has a file`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("content", to: "note.txt")
        let plain = try fetchPlan("http://a.test/", "--form", "z=1", "--form", "a=x y", "--form", "z=2")
        #expect(plain.bytes == "z=1&a=x%20y&z=2")
        let mixed = try fetchPlan("http://a.test/", "--form", "z=1", "--form", "f=@\(file)")
        guard case .form(let form) = mixed.body else {
            Issue.record("no form")
            return
        }
        #expect(mixed.request.fields["Content-Type"] == form.contentType)
        #expect(form.parts.map { $0.content.length } == [1, 7])
        guard case .form = try fetchPlan("http://a.test/", "--form", "z=1", "--serialize", "multipart").body else {
            Issue.record("no form")
            return
        }
    }

    @Test func `values may stand in the environment or in files`() throws {
        let plan = try fetchPlan(
            [
                "http://a.test/", "--param", "key=env:KEY", "--header", "X-Key:env:KEY", "--header", "X-File: file:f",
                "--header", "Authorization: Bearer env:KEY", "--header", "Cookie: file:f",
            ], environment: ["KEY": "s3cret"], files: ["f": "from a file\n"])
        #expect(plan.request.url.path == "/?key=s3cret")
        #expect(plan.request.fields["X-Key"] == "s3cret" && plan.request.fields["X-File"] == "from a file")
        #expect(
            plan.request.fields["Authorization"] == "Bearer s3cret" && plan.request.fields["Cookie"] == "from a file")
    }

    @Test func `a secret that begins with an at sign names no file`() throws {
        let plan = try fetchPlan(["http://a.test/", "--form", "k=env:KEY"], environment: ["KEY": "@/etc/passwd"])
        #expect(plan.bytes == "k=%40/etc/passwd")
    }

    @Test func `fields of the command line go before the defaults`() throws {
        let fields = try fetchPlan(
            "http://a.test/", "--header", "accept:text/html", "--header", "User-Agent: mine", "--header", "X:1",
            "--header", "X:2"
        ).request.fields
        #expect(fields == ["accept": "text/html", "User-Agent": "mine", "X": "1", "X": "2"])
    }

    @Test func `expectations make the contract`() throws {
        let plan = try fetchPlan(
            "http://a.test/", "--expect-status", "200-299,304", "--expect-status", "5xx", "--expect-type",
            "Text/HTML", "--expect-type", "application/json", "--expect-body", "json")
        #expect(plan.contract.acceptableStatusCodes == [200...299, 304...304, 500...599] && plan.hasExpectations)
        #expect(plan.contract.acceptableContentTypes == ["text/html", "application/json"])
        #expect(plan.contract.body == .json(.init()))
        #expect(try fetchPlan("http://a.test/", "--expect-body", "xml").contract.body == .xml(XMLScanner()))
        #expect(try fetchPlan("http://a.test/", "--expect-body", "plist").contract.body == .propertyList)
        guard case .image = try fetchPlan("http://a.test/", "--expect-body", "image").contract.body else {
            Issue.record("no image rule")
            return
        }
    }

    @Test func `pins, roots and a throttle are read`() throws {
        let folder = try TemporaryFolder()
        let roots = try folder.write(try TestPKI().root().certificatePEM, to: "root.pem")
        let plan = try fetchPlan(
            "https://a.test/", "--pin", self.pin, "--roots", roots, "--form", "a=1", "--throttle", "16KiB/200ms")
        #expect(plan.policy.pinning == .publicKey && plan.policy.pins.map(\.description) == [self.pin])
        guard case .only(let certificates) = plan.policy.roots else {
            Issue.record("system roots")
            return
        }
        #expect(certificates.count == 1)
        #expect(plan.request.throttle == .slowMobile)
    }

    @Test func `several URLs go to files of a folder, named as they are`() throws {
        let folder = try TemporaryFolder()
        let plan = try fetchPlan(
            "http://a.test/x/one.bin", "http://b.test/t%20wo?q", "--parallel", "2", "-o", folder.path)
        #expect(plan.targets.map(\.file) == ["\(folder.path)/one.bin", "\(folder.path)/t wo"])
        #expect(plan.width == 2 && plan.output == .folder(folder.path))
    }

    @Test func `a URL that is given twice is one transfer, unless each may change something`() throws {
        let folder = try TemporaryFolder()
        let urls = ["http://a.test/x", "http://a.test:80/x#there", "http://a.test/y", "http://a.test/x"]
        let plan = try fetchPlan(urls + ["--parallel", "2", "-o", folder.path])
        #expect(plan.targets.map(\.name) == ["x", "y"])
        let failure = #expect(throws: CommandFailure.self) {
            try fetchPlan(["DELETE"] + urls + ["--parallel", "2", "-o", folder.path])
        }
        #expect(failure?.lines == ["pintle fetch: URL 1 and URL 2 would both be written to x"])
    }
}

extension FetchPlan {
    /// The first request.
    var request: SessionRequest { self.targets[0].request }

    /// The body, if it is in memory.
    var bytes: String? {
        guard case .bytes(let bytes) = self.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
