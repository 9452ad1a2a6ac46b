// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// `serve --watch`: another configuration as soon as a file is another.
struct WatchTests {
    let folder: TemporaryFolder
    let origin: RawOrigin

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(answering: response("done"))
    }

    private static let head = "version: 1\nlog: {format: json, exchanges: \"-\"}\n"

    private func adding(_ value: String) -> String {
        "routes: [{name: r, request: {headers: {set: {X-Rule: \"\(value)\"}}}}]\n"
    }

    private func start(_ rules: String) throws -> PintleProcess {
        try PintleProcess(rules, arguments: ["--watch"], folder: self.folder)
    }

    private func rule(_ pintle: PintleProcess) throws -> String? {
        #expect(try pintle.ask(get(self.origin.port)).text == "done")
        return self.origin.requests.last?["X-Rule"]
    }

    private func waitForReload(_ pintle: PintleProcess, _ count: Int = 1) throws {
        _ = try pintle.waitForMessages("reloaded \(self.folder.path)/pintle.yaml", count)
    }

    @Test func `a file that is written to, or replaced as editors do it, is taken`() throws {
        let pintle = try self.start(self.adding("one"))
        #expect(try self.rule(pintle) == "one")
        try self.folder.write(Self.head + self.adding("two"), to: "pintle.yaml")
        try self.waitForReload(pintle)
        #expect(try self.rule(pintle) == "two")
        try self.folder.write(Self.head + self.adding("three"), to: "pintle.yaml~new")
        rename("\(self.folder.path)/pintle.yaml~new", "\(self.folder.path)/pintle.yaml")
        try self.waitForReload(pintle, 2)
        #expect(try self.rule(pintle) == "three")
    }

    @Test func `a file that cannot be taken changes nothing, and the log has the place`() throws {
        let pintle = try self.start(self.adding("one"))
        try self.folder.write("version: 1\nroutes: [{nam: x}]\n", to: "pintle.yaml")
        _ = try pintle.waitForMessages("the configuration was not reloaded; the running one stays")
        #expect(pintle.process.errors.contains { $0.contains("pintle.yaml:2:11: routes[0]: unknown key") })
        #expect(try self.rule(pintle) == "one")
        unlink("\(self.folder.path)/pintle.yaml")
        _ = try pintle.waitForMessages("the configuration was not reloaded; the running one stays", 2)
        #expect(try self.rule(pintle) == "one")
        try self.folder.write(Self.head + self.adding("two"), to: "pintle.yaml")
        try self.waitForReload(pintle)
        #expect(try self.rule(pintle) == "two")
    }

    @Test func `links that are turned to another folder are followed`() throws {
        // The links of a ConfigMap that Kubernetes mounts: pintle.yaml -> ..data/pintle.yaml, ..data -> ..first
        func place(_ name: String, _ value: String) throws {
            try self.folder.write(Self.head + self.adding(value), to: "mounted/\(name)/pintle.yaml")
        }
        try place("..first", "one")
        try place("..second", "two")
        let mounted = "\(self.folder.path)/mounted"
        symlink("..first", "\(mounted)/..data")
        symlink("..data/pintle.yaml", "\(mounted)/pintle.yaml")
        let portFile = "\(self.folder.path)/port"
        let process = try ChildProcess(
            PintleProcess.binary,
            [
                "serve", "--watch", "-c", "\(mounted)/pintle.yaml", "--listen", "127.0.0.1:0", "--port-file", portFile,
            ])
        try process.waitForLine("the ready line") { $0.contains("listening") }
        let port = try #require(Int(String(contentsOfFile: portFile, encoding: .utf8).dropLast()))
        symlink("..second", "\(mounted)/..data_tmp")
        rename("\(mounted)/..data_tmp", "\(mounted)/..data")
        try process.waitForLine("the reload") { $0.contains("reloaded \(mounted)/pintle.yaml") }
        #expect(try Curl.run(proxy: port, "http://127.0.0.1:\(self.origin.port)/").text == "done")
        #expect(self.origin.requests.last?["X-Rule"] == "two")
    }

    @Test func `files that the configuration names count as it does`() throws {
        try self.folder.write("one\n", to: "secrets/rule")
        let pintle = try self.start(self.adding("file:secrets/rule"))
        #expect(try self.rule(pintle) == "one")
        try self.folder.write("two\n", to: "secrets/rule")
        try self.waitForReload(pintle)
        #expect(try self.rule(pintle) == "two")
        // Others in the same folder do not.
        try self.folder.write("x", to: "secrets/other")
        try self.folder.write("three\n", to: "secrets/rule")
        try self.waitForReload(pintle, 2)
        #expect(try self.rule(pintle) == "three")
        #expect(try pintle.waitForMessages("reloaded \(self.folder.path)/pintle.yaml").count == 2)
    }

    @Test func `certificates are watched, and the folder that they are in`() throws {
        let site = try PrivateSite()
        try site.folder.write(site.leaf.certificatePEM, to: "pinned/leaf.pem")
        let pintle = try PintleProcess(
            "trust: {site: {hosts: [localhost], roots: [root.pem], pinning: public_key, certificates: [pinned/]}}\n"
                + site.upgrade, arguments: ["--watch"], folder: site.folder)
        #expect(try site.fetch(pintle).status == 200)
        // No user can confirm this reload, so a configuration that would refuse a working host is not applied.
        try site.folder.write(site.backup.certificatePEM, to: "pinned/leaf.pem")
        _ = try pintle.waitForMessages("the configuration was not reloaded; the running one stays")
        #expect(pintle.process.errors.contains { $0.contains("trust.site would refuse it") })
        #expect(pintle.process.errors.contains { $0.contains("reload with --force") })
        #expect(try site.fetch(pintle).status == 200)
        try site.folder.write(site.leaf.certificatePEM, to: "pinned/another.pem")
        _ = try pintle.waitForMessages("reloaded \(site.folder.path)/pintle.yaml")
        #expect(try site.fetch(pintle).status == 200)
    }

    @Test func `without the flag nothing is watched`() throws {
        let pintle = try PintleProcess(self.adding("one"), folder: self.folder)
        try self.folder.write(Self.head + self.adding("two"), to: "pintle.yaml")
        let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pintle.process.pid)/fd").map {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pintle.process.pid)/fd/\($0)")) ?? ""
        }
        #expect(!links.contains { $0.contains("inotify") }, "\(links)")
        #expect(try self.rule(pintle) == "one")
    }
}
