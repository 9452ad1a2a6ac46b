// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Routes that are chosen by fields of the request.
struct HeaderMatchTests {
    private static let routes = """
        routes:
          - {name: staging, match: {headers: {X-Env: "stag*"}}, connect: deny}
          - {name: rest}
        """

    @Test func `requests and tunnels take the route of their fields`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(Self.routes)
        let url = "http://127.0.0.1:\(origin.port)/"
        #expect(try Curl.run(proxy: pintle.port, "-H", "x-env: staging", url).text == "done")
        #expect(try Curl.run(proxy: pintle.port, "-H", "X-Env: a", "-H", "X-Env: stag", url).text == "done")
        #expect(try Curl.run(proxy: pintle.port, "-H", "X-Env: Staging", url).text == "done")
        let tunnel = try Curl.run(proxy: pintle.port, "--proxytunnel", "--proxy-header", "X-Env: staging", url)
        #expect(tunnel.head.startLine == "HTTP/1.1 403 Destination Denied By Policy", "\(tunnel)")
        #expect(try Curl.run(proxy: pintle.port, "--proxytunnel", url).text == "done")
        let routes = try pintle.waitForExchanges(5).map { $0["route"] as? String }
        #expect(routes == ["staging", "staging", "rest", "staging", "rest"])
        // The fields are the origin's as well.
        #expect(origin.requests.first?["X-Env"] == "staging")
    }

    @Test func `explain takes the fields that it is given`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("version: 1\n\(Self.routes)\n", to: "p.yaml")
        let staging = try PintleProcess.run(
            ["explain", "-c", file, "GET", "http://a.test/", "-H", "X-Env: staging"])
        let route = "route        routes[0] \"staging\" at 3:5: every method every host with X-Env: stag*"
        #expect(staging.output.contains(route), "\(staging.lines)")
        let other = try PintleProcess.run(["explain", "-c", file, "CONNECT", "a.test:443"])
        let passed = "passed over  routes[0] \"staging\": it has no field like \"X-Env: stag*\""
        #expect(other.output.contains(passed), "\(other.lines)")
    }
}
