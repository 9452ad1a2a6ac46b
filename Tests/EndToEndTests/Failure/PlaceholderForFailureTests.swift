// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// `placeholder` replaces the failures of the origin that it names.
struct PlaceholderForFailureTests {
    let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.write("nothing to see", to: "missing.txt")
    }

    private func proxy(_ placeholder: String = "", _ more: String = "") throws -> PintleProcess {
        try PintleProcess(
            "routes: [{name: r, response: {placeholder: {file: missing.txt, status: 203\(placeholder)}\(more)}}]",
            folder: self.folder)
    }

    @Test(arguments: ["", ", failures: connect-failure", ", failures: [dns-failure, connect-failure]"])
    func `LOOK-106 it stands for a refused connection`(named: String) throws {
        let pintle = try self.proxy(named)
        let answer = try Curl.run(proxy: pintle.port, ["http://127.0.0.1:\(try FreePort.find())/"])
        #expect(answer.status == 203 && answer.text == "nothing to see", "\(answer)")
        #expect(answer["Proxy-Status"]?.hasPrefix("pintle; error=") == true, "\(answer)")
        let line = try pintle.waitForExchanges(1)[0]
        #expect(line["decision"] as? String == "error", "\(line)")
        #expect((line["error"] as? String)?.hasSuffix("refused the connection") == true, "\(line)")
    }

    @Test func `LOOK-106 it also does where it may be late`() throws {
        let pintle = try self.proxy("", ", placeholder_after: 30s")
        let answer = try Curl.run(proxy: pintle.port, ["http://127.0.0.1:\(try FreePort.find())/"])
        #expect(answer.status == 203, "\(answer)")
    }

    @Test func `LOOK-106 it stands for an origin that breaks the protocol or ends early`() throws {
        for text in ["nonsense\r\n\r\n", ""] {
            let origin = try RawOrigin { connection in
                _ = try connection.readRequest()
                try connection.send(text)
            }
            let pintle = try self.proxy()
            let answer = try Curl.run(proxy: pintle.port, ["-d", "x", "http://127.0.0.1:\(origin.port)/"])
            #expect(answer.status == 203 && answer.text == "nothing to see", "\(answer)")
        }
    }

    @Test(arguments: [", failures: tls-failure", ", failures: off"])
    func `LOOK-106 other failures are told`(named: String) throws {
        let more = named.hasSuffix("off") ? ", placeholder_after: 30s" : ""
        let pintle = try self.proxy(named, more)
        let answer = try Curl.run(proxy: pintle.port, ["http://127.0.0.1:\(try FreePort.find())/"])
        #expect(answer.status == 502 && answer.problem == "connect-failure", "\(answer)")
    }

    @Test func `LOOK-106 a tunnel is told the problem itself`() throws {
        let answer = try self.proxy().ask("CONNECT 127.0.0.1:\(try FreePort.find()) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.status == 502 && answer.text.contains("connect-failure"), "\(answer)")
    }
}
