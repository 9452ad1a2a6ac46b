// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The clients that may get an answer, and the answer that is used if there are several.
struct ThirdLookCacheTests {
    private static let merging = "cache: {disk: off}\nroutes: [{name: merged, cache: {policy: protocol}, coalesce: {}}]"
    private static let keeping = "cache: {disk: off}\nroutes: [{name: kept, cache: {policy: protocol}}]"

    @Test(arguments: ["cache: {policy: protocol}", "coalesce: {}"])
    func `LOOK-99 a route with a cache and another with a trust policy serve side by side`(first: String) throws {
        let (pki, folder) = (TestPKI(), try TemporaryFolder())
        let root = try pki.root()
        let secure = try NginxOrigin(https: [try pki.leaf(dns: ["localhost"], signedBy: root)])
        try secure.serve(Array("pinned".utf8), as: "a")
        let plain = try RawOrigin(answering: response("plain"))
        let pem = try folder.write(root.certificatePEM, to: "root.pem")
        let pintle = try PintleProcess(
            """
            cache: {disk: off}
            trust: {own: {roots: ["\(pem)"]}}
            routes:
              - {name: first, match: {hosts: ["127.0.0.1"]}, \(first)}
              - {name: second, match: {hosts: [localhost]}, upstream: "https://localhost:\(secure.httpsPort)/", trust: own}
            """)
        for _ in 0..<2 {
            let answer = try pintle.ask("GET http://localhost/files/a HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(answer.text == "pinned")
            #expect(try pintle.ask(get(plain.port)).text == "plain")
        }
    }

    @Test func `LOOK-61 a request for the whole that meets the renewal of a part gets the whole`() throws {
        let mayConfirm = Watched(false)
        let fields = "Cache-Control: max-age=0, stale-while-revalidate=600\r\nETag: \"v1\"\r\n"
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if request["If-None-Match"] != nil {
                    _ = try mayConfirm.wait(for: "the request for the whole") { $0 }
                    try connection.send("HTTP/1.1 304 Not Modified\r\n\(fields)\r\n")
                } else if request["Range"] != nil {
                    try connection.send(
                        response(
                            "56789", status: "206 Partial Content",
                            fields: "\(fields)Content-Range: bytes 5-9/20\r\n"))
                } else {
                    try connection.send(response("0123456789abcdefghij", fields: fields))
                }
            }
        }
        let pintle = try PintleProcess(Self.merging)
        let range = get(origin.port, fields: "Range: bytes=5-9\r\n")
        for _ in 0..<2 { #expect(try pintle.ask(range).text == "56789") }
        try origin.waitForRequests(2)
        let client = try pintle.connect()
        try client.send(get(origin.port))
        try pintle.waitForCounter("active", 1)
        mayConfirm.change { $0 = true }
        let whole = try client.readResponse()
        #expect(whole.status == 200 && whole.text == "0123456789abcdefghij")
    }

    @Test(
        arguments: [
            ("Cache-Control: max-age=0, must-revalidate\r\nETag: \"v1\"\r\n", false),
            ("Cache-Control: no-cache\r\nETag: \"v1\"\r\n", false),
            ("ETag: \"v1\"\r\n", false), ("Cache-Control: max-age=60\r\n", true),
        ])
    func `LOOK-66 an answer that others may not use without asking is for its own client`(
        fields: String, isShared: Bool
    ) throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                _ = try mayAnswer.wait(for: "both clients") { $0 }
                try connection.send(response("account of \(request["Cookie"] ?? "nobody")", fields: fields))
            }
        }
        let pintle = try PintleProcess(Self.merging)
        let clients = try ["a", "b"].map { name in
            let client = try pintle.connect()
            try client.send(get(origin.port, fields: "Cookie: \(name)\r\n"))
            return client
        }
        try pintle.waitForCounter("active", 2)
        mayAnswer.change { $0 = true }
        let texts = Set(try clients.map { try $0.readResponse().text })
        #expect(texts.count == (isShared ? 1 : 2), "\(texts)")
    }

    @Test func `LOOK-67 an older answer that comes last does not take the place of a newer one`() throws {
        let order = Watched(0)
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let isFirst =
                    request.head.startLine.contains("/a")
                    && order.change {
                        $0 += 1; return $0
                    } == 1
                if isFirst { _ = try order.wait(for: "the newer answer to be kept") { $0 >= 10 } }
                try connection.send(
                    response(isFirst ? "old" : "new", fields: "Cache-Control: max-age=600\r\n"))
            }
        }
        let pintle = try PintleProcess(Self.keeping)
        let early = try pintle.connect()
        try early.send(get(origin.port, "/a", fields: "Cache-Control: no-cache\r\n"))
        try order.wait(for: "the first request") { $0 == 1 }
        #expect(try pintle.ask(get(origin.port, "/a", fields: "Cache-Control: no-cache\r\n")).text == "new")
        order.change { $0 = 10 }
        #expect(try early.readResponse().text == "old")
        #expect(try pintle.ask(get(origin.port, "/a")).text == "new")
        #expect(origin.requests.count == 2)
    }

    @Test func `LOOK-68 a refresh that may not be stored puts an end to what was stored`() throws {
        let number = Watched(0)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                let count = number.change {
                    $0 += 1; return $0
                }
                try connection.send(
                    response("\(count)", fields: "Cache-Control: \(count == 2 ? "no-store" : "max-age=600")\r\n"))
            }
        }
        let pintle = try PintleProcess(Self.keeping)
        #expect(try pintle.ask(get(origin.port)).text == "1")
        #expect(try pintle.ask(get(origin.port)).text == "1")
        #expect(try pintle.ask(get(origin.port, fields: "Cache-Control: no-cache\r\n")).text == "2")
        #expect(try pintle.ask(get(origin.port)).text == "3")
    }

    @Test(arguments: [merging, keeping])
    func `LOOK-80 interim answers reach the client whose request went to the origin`(configuration: String) throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
            try connection.send(response("page", fields: "Cache-Control: max-age=60\r\n"))
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(configuration)
        let client = try pintle.connect()
        try client.send(get(origin.port))
        let hints = try client.readHead()
        #expect(hints.status == 103 && hints["Link"] == "</style.css>; rel=preload")
        #expect(try client.readResponse().text == "page")
        #expect(try pintle.ask(get(origin.port)).text == "page")
    }
}
