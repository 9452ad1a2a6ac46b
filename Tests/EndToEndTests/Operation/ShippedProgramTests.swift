// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The release build, which includes FoundationEssentials, but neither the rest of Foundation nor symbol names.
@Suite(.enabled(if: PintleProcess.isGiven && !PintleProcess.binary.contains("/debug/"), "no debug build ships"))
struct ShippedProgramTests {
    @Test func `LOOK-02 the program is small`() throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: PintleProcess.binary)
        let size = try #require(attributes[.size] as? NSNumber).intValue
        // With all of Foundation it would have 10 million bytes more, and with ICU's tables 44 million.
        #expect(size < 30_000_000, "\(size) bytes; docs/performance.md says what it is made of")
    }

    @Test func `nothing of Foundation beyond its essentials is in the program`() throws {
        let bytes = try Data(contentsOf: URL(filePath: PintleProcess.binary), options: .alwaysMapped)
        let program = ["FoundationEssentials", "CoreFoundation", "FoundationInternationalization", "icudt"].map {
            name in
            bytes.range(of: Data(name.utf8)) != nil
        }
        // Without the first one the search would have no meaning.
        #expect(program == [true, false, false, false])
    }

    @Test func `LOOK-02 an idle proxy has little memory of its own`() throws {
        let pintle = try PintleProcess()
        let own = try pintle.memory("RssAnon")
        #expect(own < 10 * 1024, "\(own) KiB")
        // The rest of the resident memory is pages of files, which are shared and can be dropped. Those of the start are given back.
        let all = try pintle.memory("VmRSS")
        #expect(all < 30 * 1024, "\(all) KiB")
    }
}

/// Uses of FoundationEssentials in the program, and of its replacements, each by a command or a request that depends on it.
/// `docs/internals/release-build.md` has the list.
struct LinkedFoundationTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func run(_ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(
            arguments, environment: ["PATH": "/usr/bin:/bin", "XDG_STATE_HOME": self.folder.path],
            folder: self.folder.path)
    }

    @Test func `LOOK-01 JSON is written and read`() throws {
        // JSONEncoder and JSONDecoder talk over the control socket, which is found in a folder that is listed.
        let pintle = try PintleProcess(folder: self.folder)
        let reload = try self.run("reload")
        #expect(reload.exitCode == 0, "\(reload.lines)")
        try pintle.waitForMessages("reloaded \(self.folder.path)/pintle.yaml")
    }

    @Test func `LOOK-01 base64 is decoded and encoded`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            """
            routes:
              - {name: r, allow_cleartext_credentials: true, request: {serialize: plist,
                 authorization: {basic: {username: Aladdin, password: "file:secret"}}}}
            """, folder: try self.folderWithSecret())
        let result = try Curl.run(
            proxy: pintle.port, "-H", "Content-Type: application/x-plist", "-d",
            "<plist><dict><key>d</key><data>AP8=</data></dict></plist>", "http://127.0.0.1:\(origin.port)/")
        #expect(result.text == "done", "\(result)")
        let request = try origin.waitForRequests(1)[0]
        #expect(request["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(request.text.contains("<data>AP8=</data>"), "\(request.text)")
    }

    private func folderWithSecret() throws -> TemporaryFolder {
        try self.folder.write("open sesame", to: "secret")
        return self.folder
    }

    @Test func `LOOK-01 the types of YAML are what they are`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            "routes: [{name: r, request: {serialize: json, parameters: {a: 10, b: 1.5, c: true, d: '10', e: x}}}]",
            folder: self.folder)
        let result = try Curl.run(
            proxy: pintle.port, "-H", "Content-Type: application/json", "-d", "{}",
            "http://127.0.0.1:\(origin.port)/")
        #expect(result.text == "done", "\(result)")
        #expect(try origin.waitForRequests(1)[0].text == #"{"a":10,"b":1.5,"c":true,"d":"10","e":"x"}"#)
    }

    @Test func `LOOK-01 an error of the file system has its words`() throws {
        let serve = try self.run("serve", "--listen", "127.0.0.1:0", "--port-file", "/nowhere/port")
        #expect(serve.exitCode == 4)
        let words = "--port-file /nowhere/port cannot be written: "
        #expect(serve.errors.contains { $0.contains(words) && !$0.hasSuffix(words) }, "\(serve.lines)")
    }
}
