// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// `pintle run --intercept` and `pintle env`, with the programs that people use, which know nothing of Pintle.
struct RunInterceptionTests {
    private let site: PrivateSite

    init() throws {
        self.site = try PrivateSite()
        try self.site.folder.write(
            "version: 1\ntrust: {site: {hosts: [localhost], roots: [root.pem]}}\n", to: "pintle.yaml")
    }

    private var url: String { "https://localhost:\(self.site.origin.httpsPort)/hello" }

    private func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> ChildProcess {
        try PintleProcess.run(
            arguments,
            environment: [
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": self.site.folder.path,
                "TMPDIR": self.site.folder.path,
            ].merging(environment) { $1 }, folder: self.site.folder.path)
    }

    @Test(arguments: [
        ["curl", "--silent", "--show-error", "URL"], ["curl", "--silent", "--show-error", "--http1.1", "URL"],
        ["wget", "--quiet", "--output-document=-", "URL"],
        [
            "/usr/bin/python3", "-c",
            "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())", "URL",
        ],
    ])
    func `a command trusts the proxy of its run, and nothing is left of it`(command: [String]) throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: self.site.folder.path).sorted()
        let process = try self.run(
            ["run", "--intercept", "localhost", "--report", "json=report.json", "--"]
                + command.map { $0 == "URL" ? self.url : $0 })
        #expect(process.exitCode == 0 && process.output == ["hello"], "\(process.lines)")
        let after = try FileManager.default.contentsOfDirectory(atPath: self.site.folder.path).sorted()
        #expect(after.filter { $0 != "report.json" } == before)
        let report = String(decoding: fileBytes("\(self.site.folder.path)/report.json") ?? [], as: UTF8.self)
        let summary = try jsonObject(report).object("summary")
        #expect(summary["requests"] as? Int == 1 && summary["tunnels"] as? Int == 1, "\(report)")
    }

    @Test(arguments: [("--http2", "HTTP/2"), ("--http1.1", "HTTP/1.1")])
    func `a HAR file has the version that the client spoke`(option: String, version: String) throws {
        let process = try self.run(
            [
                "run", "--intercept", "localhost", "--report", "har=report.har", "--", "curl", "--silent", option,
                self.url,
            ])
        #expect(process.exitCode == 0 && process.output == ["hello"], "\(process.lines)")
        let report = String(decoding: fileBytes("\(self.site.folder.path)/report.har") ?? [], as: UTF8.self)
        let requests = try jsonObject(report).object("log").objects("entries").map { $0.object("request") }
        #expect(requests.filter { $0.text("method") == "GET" }.map { $0.text("httpVersion") } == [version], "\(report)")
    }

    @Test(arguments: [
        (variable: "CURL_CA_BUNDLE", configuration: ""), (variable: "SSL_CERT_FILE", configuration: ""),
        (variable: "LANG", configuration: ", extra_roots: [root.pem]"),
    ])
    func `LOOK-115 what the user or the configuration trusts is trusted beside the authority`(
        variable: String, configuration: String
    ) throws {
        // Only the name is intercepted; the address is a host under a private authority.
        try self.site.folder.write(
            "version: 1\ntrust: {site: {hosts: [localhost], roots: [root.pem]}, extra: {hosts: [a.test]\(configuration)}}\n",
            to: "pintle.yaml")
        let other = "https://127.0.0.1:\(self.site.origin.httpsPort)/hello"
        let process = try self.run(
            ["run", "--intercept", "localhost", "--", "curl", "--silent", "--show-error", self.url, other],
            variable == "LANG" ? [:] : [variable: "\(self.site.folder.path)/root.pem"])
        #expect(process.exitCode == 0 && process.output == ["hello", "hello"], "\(process.lines)")
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/keytool"), "there is no keytool here"),
        arguments: ["JKS", "PKCS12"])
    func `LOOK-115 the trust store that Java's options named is merged`(type: String) throws {
        let store = "\(self.site.folder.path)/own store"
        let made = try ChildProcess(
            "/usr/bin/keytool",
            [
                "-importcert", "-noprompt", "-alias", "own", "-file", "\(self.site.folder.path)/backup.pem",
                "-storetype", type,
                "-keystore", store, "-storepass", "changeit",
            ])
        #expect(try made.waitForExit() == 0, "\(made.lines)")
        // The last store that is named counts.
        let list =
            "keytool -list -keystore \"$(echo \"$JAVA_TOOL_OPTIONS\" | sed 's/.*trustStore=//; s/ .*//')\" "
            + "-storepass pintle -storetype PKCS12 2>/dev/null"
        let options = "\"-Djavax.net.ssl.trustStore=\(store)\" -Djavax.net.ssl.trustStorePassword=changeit"
        let merged = try self.run(
            ["run", "--intercept", "localhost", "--", "sh", "-c", list], ["JAVA_TOOL_OPTIONS": options])
        #expect(merged.exitCode == 0, "\(merged.lines)")
        #expect(merged.output.filter { $0.contains("trustedCertEntry") }.count == 2, "\(merged.lines)")
        let broken = try self.run(
            ["run", "--intercept", "localhost", "--", "sh", "-c", list],
            ["JAVA_TOOL_OPTIONS": "-Djavax.net.ssl.trustStore=/nowhere"])
        #expect(
            broken.errors.contains {
                $0.hasPrefix("JAVA_TOOL_OPTIONS names a trust store that does not count meanwhile: /nowhere: ")
            }, "\(broken.lines)")
        #expect(broken.output.filter { $0.contains("trustedCertEntry") }.count > 2, "the system's roots")
    }

    @Test func `what a route forbids in a tunnel fails the run`() throws {
        try self.site.folder.write(
            """
            version: 1
            trust: {site: {hosts: [localhost], roots: [root.pem]}}
            routes: [{name: api, match: {hosts: [localhost]}, response: {content_types: [application/json]}}]
            """, to: "pintle.yaml")
        let process = try self.run(["run", "--intercept", "localhost", "--", "curl", "--silent", self.url])
        #expect(process.exitCode == 1, "\(process.lines)")
        #expect(process.errors.contains { $0.contains("response-content-type") }, "\(process.errors)")
    }

    @Test func `the authority of the user is taken where there is one, and env names its files`() throws {
        let made = try self.run(["ca", "init", "--permit", "localhost"])
        #expect(made.exitCode == 0, "\(made.lines)")
        let authority = try #require(made.output.first)
        let process = try self.run([
            "run", "--intercept", "localhost", "--", "sh", "-c", "cat \"$NODE_EXTRA_CA_CERTS\"; curl -sS \(self.url)",
        ])
        let own = String(decoding: fileBytes(authority) ?? [], as: UTF8.self)
        #expect(process.exitCode == 0 && process.output.joined(separator: "\n") == own + "hello", "\(process.lines)")

        try self.site.folder.write("version: 1\ninterception: {hosts: [localhost]}\n", to: "pintle.yaml")
        let environment = try self.run(["env", "--shell", "json"])
        let variables = try jsonObject(environment.output.joined(separator: "\n"))
        let bundle = try #require(variables["SSL_CERT_FILE"] as? String)
        #expect(variables["CURL_CA_BUNDLE"] as? String == bundle && variables["DENO_CERT"] != nil)
        let text = String(decoding: fileBytes(bundle) ?? [], as: UTF8.self)
        #expect(text.hasSuffix(own) && text.count > own.count, "the system's roots and ours")
        let java = try #require(variables["JAVA_TOOL_OPTIONS"] as? String)
        #expect(java.contains("trustStoreType=PKCS12"))
    }
}
