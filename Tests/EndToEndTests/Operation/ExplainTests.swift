// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The decision on a request, without sending it.
struct ExplainTests {
    private static let configuration = """
        version: 1
        destinations: {deny: ["*.ads.example"]}
        trust:
          payments: {hosts: ["*.pay.example"]}
        routes:
          - name: images
            match: {paths: ["/img/**"]}
          - name: charge
            match: {hosts: [api.pay.example], methods: [POST], paths: ["/v1/**"]}
            request:
              headers: {default: {Accept: application/json}, remove: [Cookie]}
              authorization: {bearer: s3cret}
              parameters: {source: pintle}
              serialize: json
            allow_cleartext_credentials: true
            response: {status: [2xx], body: json}
        """

    private static let denial =
        "routes[1] \"charge\", because a tunnel cannot keep its request.headers, request.authorization, "
        + "request.parameters, request.serialize, response.status, response.body; connect: intercept keeps them, "
        + "tunnel or verify on the route lets it pass"

    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.file = try self.folder.write(Self.configuration, to: "p.yaml")
    }

    private func explain(_ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(["explain", "-c", self.file] + arguments)
    }

    @Test func `LOOK-109 a request to the gateway is explained, and a refusal says why`() throws {
        let file = try self.folder.write(
            """
            version: 1
            routes:
              - {name: up, match: {hosts: [a.test], paths: [/v1/**]}, upstream: "http://up.test/", cache: {policy: protocol}, coalesce: {}}
            """, to: "g.yaml")
        let explained = try PintleProcess.run(["explain", "-c", file, "GET", "/v1/x", "-H", "Host: a.test"])
        #expect(
            explained.exitCode == 0 && explained.output.contains("sent to      GET http://up.test/v1/x"),
            "\(explained.lines)")
        #expect(
            explained.output.contains("cache        keeps answers as RFC 9111 lets a shared cache"),
            "\(explained.lines)")
        let refused = try PintleProcess.run(["explain", "-c", file, "GET", "/v2", "-H", "Host: a.test"])
        #expect(refused.output.contains("answer       400 bad-request"), "\(refused.lines)")
        #expect(refused.output.contains("passed over  routes[0] \"up\": /v2 is none of its paths"), "\(refused.lines)")
        let nameless = try PintleProcess.run(["explain", "-c", file, "GET", "/v1"])
        #expect(nameless.exitCode == 2 && nameless.errors.first?.contains("Host") == true, "\(nameless.lines)")
        let checked = try PintleProcess.run(["check", "-c", file])
        #expect(checked.output.contains { $0.contains("keeps answers as RFC 9111") }, "\(checked.lines)")
    }

    @Test func `every rule that applies is named, and no secret`() throws {
        let process = try self.explain("POST", "https://api.pay.example/v1/charges", "-H", "Accept: text/html")
        #expect(process.exitCode == 0)
        #expect(
            process.output == [
                "clients      may be in 127.0.0.0/8, ::1/128",
                "passed over  routes[0] \"images\": /v1/charges is none of its paths",
                "route        routes[1] \"charge\" at 8:5: POST api.pay.example /v1/**",
                "sent to      POST https://api.pay.example/v1/charges",
                "destination  api.pay.example:443 is allowed by destinations.default",
                "trust        payments, by trust.payments.hosts[0] \"*.pay.example\": no pins",
                "tunnel       a CONNECT to api.pay.example:443 is refused: it is denied by \(Self.denial)",
                "request      removes Cookie",
                "request      defaults Accept",
                "request      authorizes by Bearer where there is no Authorization",
                "request      serializes parameters as json, adding source",
                "fields       Accept stays: the request has one",
                "fields       Authorization is added",
                "response     accepts only 200-299, JSON",
                "sent         when all of its body is here, which the serializer needs",
            ], "\(process.lines)")
    }

    @Test func `a request that no route matches passes as it is`() throws {
        let process = try self.explain("GET", "http://x.ads.example/")
        #expect(process.exitCode == 1)
        #expect(process.output.contains("passed over  routes[0] \"images\": / is none of its paths"))
        #expect(process.output.contains("route        none matches; the request passes as it is"))
        #expect(
            process.output.contains { $0.hasPrefix("destination  x.ads.example:80 is denied by destinations.deny[0]") })
        #expect(process.output.contains("trust        http: there is nothing to verify"), "\(process.lines)")
    }

    @Test func `the rule about private addresses is told, for an address and for a name`() throws {
        let file = try self.folder.write("version: 1\ndestinations: {private_addresses: deny}\n", to: "q.yaml")
        let literal = try PintleProcess.run(["explain", "-c", file, "GET", "http://169.254.169.254/"])
        let denial = "is denied by destinations.private_addresses deny: 169.254.0.0/16 is link-local"
        #expect(literal.output.contains("destination  169.254.169.254:80 \(denial)"), "\(literal.lines)")
        let name = try PintleProcess.run(["explain", "-c", file, "GET", "http://a.test/"])
        let rule = "destination  the address that is dialled is judged by destinations.private_addresses deny"
        #expect(name.output.contains(rule), "\(name.lines)")
    }

    @Test func `a tunnel is explained as one`() throws {
        let denied = try self.explain("CONNECT", "api.pay.example:443")
        #expect(denied.exitCode == 1)
        let denial = "destination  api.pay.example:443 is denied by \(Self.denial)"
        #expect(denied.output.contains(denial), "\(denied.lines)")
        #expect(!denied.output.contains { $0.contains("is relayed") }, "\(denied.lines)")
        let named = try self.explain("CONNECT", "www.pay.example:443")
        let trust = "trust        payments, by trust.payments.hosts[0] \"*.pay.example\": no pins"
        #expect(named.output.contains(trust), "\(named.lines)")
        #expect(named.output.contains { $0.contains("proves itself before the tunnel opens") }, "\(named.lines)")
        let process = try self.explain("CONNECT", "www.other.example:443")
        #expect(process.exitCode == 0)
        let port =
            "port         443 is allowed by destinations.connect_ports auto: any, because all listeners are loopback"
        #expect(process.output.contains(port), "\(process.lines)")
        #expect(process.output.contains("trust        a tunnel is relayed; nothing is verified"), "\(process.lines)")
    }

    @Test(arguments: [
        ["GET"], ["GE T", "http://a.test/"], ["GET", "ftp://a.test/"], ["GET", "/path"], ["CONNECT", "a:b:c"],
        ["GET", "http://a.test/", "-H", "nocolon"], ["GET", "http://a.test/", "-H", "Authorization: Basic eA=="],
        ["GET", "http://a.test/", "-H", "Proxy-Authorization:file:/dev/null"],
    ])
    func `a wrong command line is usage`(arguments: [String]) throws {
        let process = try PintleProcess.run(["explain", "-c", self.file] + arguments)
        #expect(process.exitCode == 2 && process.output.isEmpty && !process.errors.isEmpty, "\(process.lines)")
    }

    @Test func `an asterisk is no destination, and a URL is asked for`() throws {
        let process = try self.explain("OPTIONS", "*")
        let words =
            "pintle explain: * asks about the proxy, which answers by itself; give a URL, as in OPTIONS http://host/"
        #expect(process.exitCode == 2 && process.errors.contains(words), "\(process.lines)")
    }

    // MARK: A sample

    private func check(_ sample: String) throws -> ChildProcess {
        let path = try self.folder.write(sample, to: "request.http")
        return try PintleProcess.run(["check", "-c", self.file, "--sample", path])
    }

    @Test(arguments: ["\n", "\r\n"])
    func `a saved request is printed as it would go upstream`(lineEnd: String) throws {
        let head = [
            "POST http://api.pay.example/v1/charges HTTP/1.1", "Host: api.pay.example", "Cookie: a=b",
            "Connection: close", "Content-Type: application/x-www-form-urlencoded", "", "amount=5&tags[]=x",
        ]
        let process = try self.check(head.joined(separator: lineEnd) + "\n")
        #expect(process.exitCode == 0, "\(process.lines)")
        #expect(
            process.output == [
                "POST /v1/charges HTTP/1.1\r", "Host: api.pay.example\r", "Via: 1.1 pintle\r",
                "Content-Type: application/json\r", "Accept: ***\r", "Authorization: ***\r",
                "Content-Length: 42\r", "\r", #"{"amount":"5","tags":["x"],"source":"***"}"#,
            ], "\(process.lines)")
        #expect(process.errors.contains("sent to http://api.pay.example:80 by routes[1] \"charge\""))
    }

    @Test func `what a sample prints is what an origin gets`() throws {
        let origin = try RawOrigin(answering: response("{}", fields: "Content-Type: application/json\r\n"))
        let configuration = Self.configuration.replacingOccurrences(
            of: "hosts: [api.pay.example]", with: "hosts: [127.0.0.1]")
        let sample =
            "POST http://127.0.0.1:\(origin.port)/v1/a HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n"
            + "Accept-Encoding: compress, gzip\r\nRange: bytes=0-4\r\nExpect: 100-continue\r\n"
            + "Content-Length: 9\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=1&b[c]="
        let folder = try TemporaryFolder()
        let file = try folder.write(configuration + "\nlog: {redact: off}", to: "p.yaml")
        let printed = try PintleProcess.run(
            ["check", "-c", file, "--sample", try folder.write(sample, to: "s.http")])
        let rules = configuration.replacingOccurrences(of: "version: 1\n", with: "")
        let pintle = try PintleProcess(rules)
        #expect(try pintle.ask(sample).status == 200)
        let request = try origin.waitForRequests(1)[0]
        let sent = [request.head.startLine] + request.head.fields.map { "\($0.name): \($0.value)" }
        let told = printed.output.prefix { $0 != "\r" }.map { $0.replacingOccurrences(of: "\r", with: "") }
        #expect(Set(sent) == Set(told), "\(sent)\n\(told)")
        #expect(request.text == printed.output.last)
    }

    @Test(arguments: [
        ("GET http://x.ads.example/ HTTP/1.1\nHost: x\n\n", "403 destination-denied"),
        ("GET /x HTTP/1.1\nHost: nobody.test\n\n", "400 bad-request"),
        ("GET http://a.test/ HTTP/1.1\nHost : x\n\n", "400 bad-request"),
        ("GET http://a.test/ HTTP/1.1\nHost: x\n", "400 bad-request"),
        ("POST http://a.test/ HTTP/1.1\nHost: x\nContent-Length: 9\n\nshort", "400 bad-request"),
        (
            "POST http://api.pay.example/v1/a HTTP/1.1\nHost: x\nContent-Type: text/plain\n\nx",
            "422 unserializable-request"
        ),
    ])
    func `a sample that would be refused says with what`(sample: String, answer: String) throws {
        let process = try self.check(sample)
        #expect(process.exitCode == 1 && process.output.isEmpty)
        #expect(process.errors.contains { $0.contains("answered with \(answer)") }, "\(process.lines)")
    }

    @Test func `a sample is judged as the client that its Proxy-Authorization names`() throws {
        let file = try self.folder.write(
            "version: 1\nroutes: [{name: builds, match: {tags: [ci]}}]\n", to: "tags.yaml")
        let sample = try self.folder.write(
            "GET http://a.test/ HTTP/1.1\nHost: a.test\nProxy-Authorization: Basic Y2k6\n\n", to: "ci.http")
        let process = try PintleProcess.run(["check", "-c", file, "--sample", sample])
        #expect(process.exitCode == 0, "\(process.lines)")
        #expect(!process.output.contains { $0.hasPrefix("Proxy-Authorization") }, "\(process.lines)")
        #expect(process.errors.contains("sent to http://a.test:80 by routes[0] \"builds\""), "\(process.lines)")
        #expect(process.errors.contains("the client is tag ci"), "\(process.lines)")
    }

    @Test func `a sample that is not there is no finding`() throws {
        let process = try PintleProcess.run(["check", "-c", self.file, "--sample", "/nowhere"])
        #expect(process.exitCode == 4 && process.errors.contains { $0.contains("there is no file /nowhere") })
    }
}
