// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Flag = HTTP2Bytes.Flag

/// Calls of gRPC through a gateway: a listener with TLS, and an upstream that speaks HTTP/2.
struct GatewayCallTests {
    private static let server = """
        const http2 = require("http2"), fs = require("fs");
        const server = http2.createSecureServer({key: fs.readFileSync("site.key"), cert: fs.readFileSync("site.pem")});
        server.on("stream", (stream, head) => {
          stream.respond({":status": 200, "content-type": "application/grpc", "x-path": head[":path"]},
            {waitForTrailers: true});
          stream.on("data", data => stream.write(data));
          stream.on("end", () => stream.end());
          stream.on("wantTrailers", () => stream.sendTrailers({"grpc-status": "0"}));
        });
        server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));
        """

    @Test func `messages go both ways at once, and the status comes in the trailers`() throws {
        let folder = try TemporaryFolder()
        let pki = TestPKI()
        let root = try pki.root("Root")
        for (name, host) in [("site", "localhost"), ("proxy", "proxy.test")] {
            _ = try folder.write(pki.leaf(name, dns: [host], ip: ["127.0.0.1"], signedBy: root), as: name)
        }
        try folder.write(root.certificatePEM, to: "root.pem")
        try folder.write(Self.server, to: "server.js")
        let server = try ChildProcess("/usr/bin/node", ["server.js"], folder: folder.path)
        let port = try server.waitForLine("its port") { $0.hasPrefix("port ") }.dropFirst(5)
        let pintle = try PintleProcess(
            """
            listen_tls: {certificate: proxy.pem, key: proxy.key}
            trust: {site: {roots: [root.pem]}}
            routes:
              - name: greeter
                match: {paths: ["/greet.Greeter/**"]}
                upstream: "https://localhost:\(port)/"
                trust: site
                request: {forwarded: x_forwarded}
            """, arguments: ["--listen", "https://127.0.0.1:0"], folder: folder)
        let client = HTTP2Client(try TLSStream(port: pintle.ports[1], protocols: ["h2"]))
        try client.greet()
        try client.send(
            Bytes.headers(
                [
                    (":method", "POST"), (":scheme", "https"), (":authority", "127.0.0.1:\(pintle.ports[1])"),
                    (":path", "/greet.Greeter/Chat"), ("te", "trailers"), ("content-type", "application/grpc"),
                ], Flag.endHeaders))
        var text = ""
        for number in 0..<3 {
            text += "message \(number)."
            try client.send(Bytes.data("message \(number).", isLast: false))
            #expect(try client.read { $0.answers[1]?.text == text || $0.answers[1]?.reset != nil })
        }
        try client.send(Bytes.data(""))
        let answer = try client.answer()
        #expect(answer.status == 200 && answer.text == text && answer["x-path"] == "/greet.Greeter/Chat", "\(answer)")
        #expect(answer.trailers?.contains { $0 == ("grpc-status", "0") } == true, "\(answer)")
        let line = try pintle.waitForExchanges(1)[0]
        #expect(line["mode"] as? String == "gateway" && line["http"] as? String == "2", "\(line)")
    }
}
