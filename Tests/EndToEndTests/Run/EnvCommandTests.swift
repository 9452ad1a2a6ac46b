// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// `pintle env`, as shells and scripts use it.
struct EnvCommandTests {
    private func env(_ arguments: [String] = [], _ configuration: String, environment: [String: String] = [:]) throws
        -> ChildProcess
    {
        let stage = try RunStage(configuration)
        return try PintleProcess.run(
            ["env"] + arguments, environment: RunStage.environment.merging(environment) { $1 },
            folder: stage.folder.path)
    }

    @Test func `a shell finds a running proxy by it`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess()
        let stage = try RunStage("listen: [\"127.0.0.1:\(pintle.port)\"]")
        let process = try stage.shell(
            "eval \"$($pintle env)\"; curl -sS http://127.0.0.1:\(origin.port)/; eval \"$($pintle env --unset)\"; echo; "
                + "echo \"$http_proxy$HTTPS_PROXY${no_proxy-unset}\"")
        #expect(process.output == ["done", "unset"], "\(process.lines)")
        #expect(try pintle.waitForExchanges(1).count == 1)
    }

    @Test func `the variables are those of the contract, and the configuration used is told beside them`() throws {
        let process = try self.env(
            ["--shell", "json"], "listen: [\"0.0.0.0:8118\"]\nclients: {allow: [\"10.0.0.0/8\"]}")
        #expect(process.exitCode == 0 && process.errors == ["configuration: pintle.yaml"], "\(process.lines)")
        let object = try jsonObject(process.output.joined(separator: "\n"))
        #expect(object.count == 10 && object.text("HTTPS_PROXY") == "http://127.0.0.1:8118")
        #expect(object["no_proxy"] as? String == "" && object.text("NODE_USE_ENV_PROXY") == "1")
    }

    @Test func `a place that no variable can name is told with what to do`() throws {
        let process = try self.env([], "listen: [\"unix:/tmp/p.sock\"]")
        #expect(process.exitCode == 4 && process.output.isEmpty)
        #expect(
            process.errors.last
                == "pintle env: the proxy listens on unix:/tmp/p.sock, which no proxy variable can name; add an address with "
                + "a port to `listen`, such as 127.0.0.1:3128")
    }

    @Test func `taking the variables away needs no configuration`() throws {
        let process = try self.env(["--unset", "--shell", "fish"], "limts: {}")
        #expect(process.exitCode == 0 && process.errors.isEmpty && process.output.count == 10, "\(process.lines)")
        #expect(process.output.allSatisfy { $0.hasPrefix("set -e ") })
    }

    @Test func `options of Java that are replaced are told of`() throws {
        let process = try self.env([], "", environment: ["JAVA_TOOL_OPTIONS": "-Xmx1g"])
        #expect(process.errors.last == "pintle env: this takes the place of the JAVA_TOOL_OPTIONS that are set now")
        #expect(try self.env(["--shell", "csh"], "").exitCode == 2)
    }
}
