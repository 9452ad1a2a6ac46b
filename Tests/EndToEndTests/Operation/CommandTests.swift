// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The commands beside `serve`, and how `serve` begins and ends.
struct CommandTests {
    @Test func `check says nothing about a good configuration and exits 0`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("version: 1\n", to: "good.yaml")
        let process = try PintleProcess.run(["check", "-c", file])
        #expect(process.exitCode == 0 && process.output.isEmpty, "\(process.lines)")
        #expect(process.errors.contains { $0.contains("good.yaml") }, "the one used is printed")
    }

    @Test func `check takes the file without -c, and not with it as well`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("version: 1\nroute: []\n", to: "slip.yaml")
        let process = try PintleProcess.run(["check", file])
        #expect(process.exitCode == 3 && process.errors.contains { $0.contains("slip.yaml:2:1") }, "\(process.lines)")
        let both = try PintleProcess.run(["check", file, "-c", file])
        #expect(both.exitCode == 2 && both.errors.contains { $0.contains("Name one configuration") }, "\(both.lines)")
    }

    @Test(arguments: [["check", "-c", ""], ["check", ""], ["explain", "-c", "", "GET", "http://a.test/"]])
    func `an empty name is no configuration`(arguments: [String]) throws {
        let process = try PintleProcess.run(arguments)
        #expect(process.exitCode == 2 && process.output.isEmpty, "\(process.lines)")
        #expect(
            process.errors == ["the name of the configuration is empty, as is a variable that is not set"],
            "\(process.lines)")
    }

    @Test(arguments: [
        ("serv", "Did you mean: pintle serve"),
        ("-c x.yaml serve", "Options follow the command, as in: pintle serve -c …"),
        ("serve x.yaml", "A configuration is named by -c, as in: pintle serve -c x.yaml"),
        (
            "status -c x.yaml",
            "A proxy that runs is asked, whatever its configuration; if several run, --pid says which."
        ),
        ("explain http://a.test/", "The method comes first, as in: pintle explain GET http://a.test/"),
        ("purge http://a.test/ --all", "Error: Say one thing that goes: a URL, --prefix, --tag or --all."),
        ("fleet", "pintle fleet: not built yet in this version"),
    ])
    func `a slip in the command line is answered with what was probably meant`(line: String, answer: String) throws {
        let process = try PintleProcess.run(line.split(separator: " ").map(String.init))
        #expect(process.exitCode == 2 && process.errors.contains(answer), "\(process.lines)")
    }

    @Test func `check prints findings as file, line, column and message`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "version: 1\nroutes:\n  - {name: all}\n  - {name: never, match: {hosts: [a.test]}}\n", to: "lint.yaml")
        let process = try PintleProcess.run(["check", "-c", file])
        #expect(process.exitCode == 0)
        #expect(
            process.output.contains { $0.wholeMatch(of: /.*lint\.yaml:4:\d+: warning: .*/) != nil }, "\(process.lines)")
    }

    @Test func `check finds the configuration in the folder, then the embedded one`() throws {
        let folder = try TemporaryFolder()
        let embedded = try PintleProcess.run(["check"], folder: folder.path)
        #expect(
            embedded.exitCode == 0 && embedded.errors.contains { $0.contains("embedded default") }, "\(embedded.lines)")
        try folder.write("version: 1\n", to: "pintle.yaml")
        let local = try PintleProcess.run(["check"], folder: folder.path)
        #expect(local.errors.contains { $0.contains("pintle.yaml") }, "\(local.lines)")
    }

    @Test func `version prints what it is built on`() throws {
        let long = try PintleProcess.run(["version"])
        #expect(long.exitCode == 0)
        #expect(
            long.output[0].wholeMatch(of: /pintle \d+\.\d+\.\d+ \(libcurl\/\S+ OpenSSL\/\S+\)/) != nil, "\(long.output)"
        )
        let short = try PintleProcess.run(["--version"])
        #expect(short.exitCode == 0)
        #expect(short.output[0].wholeMatch(of: /pintle \d+\.\d+\.\d+/) != nil, "\(short.output)")
    }

    @Test func `help is data`() throws {
        for arguments in [["--help"], ["serve", "--help"], ["check", "--help"], ["fetch", "--help"]] {
            let process = try PintleProcess.run(arguments)
            #expect(process.exitCode == 0 && process.errors.isEmpty && process.output.contains { $0.contains("USAGE") })
        }
    }

    @Test func `serve says where it listens, in its ready line and in the port file`() throws {
        let folder = try TemporaryFolder()
        let pintle = try PintleProcess("", folder: folder)
        let ready = try pintle.waitForMessages("ready")[0]
        #expect(ready["listening"] as? String == "127.0.0.1:\(pintle.port)")
        #expect((ready["configuration"] as? String)?.contains("pintle.yaml") == true)
        #expect(try String(contentsOfFile: "\(folder.path)/port", encoding: .utf8) == "\(pintle.port)\n")
        #expect(pintle.process.output.filter { !$0.contains("\"id\"") }.isEmpty, "logs are not data")
    }

    @Test func `serve listens on several addresses`() throws {
        let pintle = try PintleProcess("", arguments: ["--listen", "127.0.0.1:0"])
        let origin = try RawOrigin(answering: response("done"))
        let listening = try pintle.waitForMessages("ready")[0]["listening"] as? String ?? ""
        let ports = listening.split(separator: " ").compactMap { $0.split(separator: ":").last.flatMap { Int($0) } }
        #expect(ports.count == 2 && Set(ports).count == 2)
        for port in ports {
            #expect(try Curl.run(proxy: port, "http://127.0.0.1:\(origin.port)/").text == "done")
        }
    }

    @Test func `the ready line is there at any log level`() throws {
        let pintle = try PintleProcess("", arguments: ["--log-level", "critical"])
        #expect(try pintle.waitForMessages("ready").count == 1)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal ends an idle proxy with 0`(signal: Int32) throws {
        let pintle = try PintleProcess()
        let idle = try pintle.connect()
        pintle.process.signal(signal)
        #expect(try pintle.process.waitForExit() == 0, "\(pintle.process.errors)")
        #expect(try idle.readToEnd().bytes.isEmpty)
    }

    @Test func `SIGTERM lets an exchange finish that is under way, and takes no new one`() throws {
        let release = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
            try release.wait(for: "the test to go on") { $0 }
            try connection.send(" half")
        }
        let pintle = try PintleProcess()
        let client = try pintle.connect()
        try client.send(get(origin.port))
        _ = try client.readHead()
        #expect(try client.read(5) == Array("first".utf8))
        pintle.process.signal(SIGTERM)
        try pintle.waitForMessages("draining")
        release.change { $0 = true }
        #expect(try client.read(5) == Array(" half".utf8))
        #expect(try client.readToEnd().ending == .closed)
        #expect(try pintle.process.waitForExit() == 0, "\(pintle.process.errors.suffix(5))")
        #expect(throws: TestFailure.self) { _ = try pintle.connect() }
        #expect(try pintle.waitForMessages("stopped")[0]["clean"] as? Bool == true)
    }

    @Test func `what is not done after drain_timeout is cut`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess("limits: {drain_timeout: 200ms}")
        let client = try pintle.connect()
        try client.send(get(origin.port))
        try origin.waitForRequests(1)
        #expect(try pintle.stop() == 0, "\(pintle.process.errors.suffix(5))")
        #expect(try client.readToEnd().bytes.isEmpty)
    }

    @Test func `a second signal ends it at once`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess("limits: {drain_timeout: 1h}")
        let client = try pintle.connect()
        try client.send(get(origin.port))
        try origin.waitForRequests(1)
        pintle.process.signal(SIGTERM)
        try pintle.waitForMessages("draining")
        pintle.process.signal(SIGTERM)
        _ = try pintle.process.waitForExit()
        #expect(try client.readToEnd().bytes.isEmpty)
    }
}
