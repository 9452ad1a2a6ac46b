// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Equal requests under way become one (`coalesce`; RFC 9111 §4, collapsed forwarding).
struct CoalescingTests {
    @Test func `requests whose answer the origin did not want to be stored do not wait for each other again`() throws {
        // The first one is answered at once, the others when both have come.
        let waiting = Watched(0)
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            if request.head.startLine.contains("/mine") {
                let number = waiting.change { count in
                    count += 1
                    return count
                }
                if number > 1 { _ = try waiting.wait(for: "both requests") { $0 == 3 } }
            }
            try connection.send(response("mine", fields: "Cache-Control: private\r\nConnection: close\r\n"))
        }
        let pintle = try PintleProcess(
            "cache: {disk: off}\nroutes: [{name: one, cache: {policy: protocol}, coalesce: {}}]")
        #expect(try pintle.ask(get(origin.port, "/mine")).text == "mine")
        let clients = try (0..<2).map { _ in try pintle.connect() }
        for client in clients { try client.send(get(origin.port, "/mine")) }
        for client in clients {
            let answer = try client.readResponse()
            #expect(answer.text == "mine" && answer["Cache-Status"]?.contains("collapsed") == false)
        }
    }

    private static let configuration = """
        cache: {disk: off}
        routes: [{name: merged, cache: {policy: protocol}, coalesce: {}}]
        """

    /// Opens connections, all of which ask for the same, and waits until they do.
    private func ask(
        _ count: Int, _ request: String, through pintle: PintleProcess, active: Int? = nil
    ) throws -> [SocketStream] {
        let clients = try (0..<count).map { _ in try pintle.connect(receiveBuffer: 4096) }
        for client in clients { try client.send(request) }
        try pintle.waitForCounter("active", active ?? count)
        return clients
    }

    @Test func `five hundred clients share one request, and slow ones hold up nobody`() async throws {
        let body = String(decoding: pattern(1 << 20).map { 0x20 + $0 % 64 }, as: UTF8.self)
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try mayAnswer.wait(for: "the clients") { $0 }
            try connection.send(response(body, fields: "Cache-Control: max-age=60\r\n"))
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(Self.configuration)
        let clients = try self.ask(500, get(origin.port), through: pintle)
        mayAnswer.change { $0 = true }
        // Ten of them do not read until all others have everything.
        for client in clients.dropFirst(10) { #expect(try client.readResponse().text == body) }
        #expect(try pintle.memory("VmHWM") < 400 << 10)
        for client in clients.prefix(10) { #expect(try client.readResponse().text == body) }
        #expect(try origin.waitForRequests(1).count == 1)
        let counters = try pintle.counters()
        #expect(counters["coalesced"] as? Int == 499 && counters["cache_misses"] as? Int == 1)
    }

    @Test func `a client that asks after a change does not get the answer to a request from before it`() throws {
        let (asked, mayAnswer) = (Watched(0), Watched(false))
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                let number = asked.change { count in
                    count += 1
                    return count
                }
                if number == 1 { _ = try mayAnswer.wait(for: "the other clients") { $0 } }
                try connection.send(response("answer \(number)"))
            }
        }
        // Nothing is kept here.
        let pintle = try PintleProcess("cache: {disk: off}\nroutes: [{name: merged, coalesce: {}}]")
        let first = try self.ask(1, get(origin.port), through: pintle)
        try origin.waitForRequests(1)
        let place = "127.0.0.1:\(origin.port)"
        let change = "POST http://\(place)/ HTTP/1.1\r\nHost: \(place)\r\nContent-Length: 0\r\n\r\n"
        #expect(try pintle.ask(change).text == "answer 2")
        #expect(try pintle.ask(get(origin.port)).text == "answer 3")
        mayAnswer.change { $0 = true }
        for client in first { #expect(try client.readResponse().text == "answer 1") }
    }

    @Test func `of clients that want another variant one asks, and the others wait for it`() throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let language = request["Accept-Language"] ?? "none"
                if language == "fr" { _ = try mayAnswer.wait(for: "the clients") { $0 } }
                try connection.send(
                    response("in \(language)", fields: "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n"))
            }
        }
        let pintle = try PintleProcess(Self.configuration)
        func request(_ language: String) -> String { get(origin.port, fields: "Accept-Language: \(language)\r\n") }
        let first = try self.ask(1, request("fr"), through: pintle)
        try origin.waitForRequests(1)
        let others = try self.ask(20, request("de"), through: pintle, active: 21)
        mayAnswer.change { $0 = true }
        for client in first { #expect(try client.readResponse().text == "in fr") }
        for client in others { #expect(try client.readResponse().text == "in de") }
        #expect(origin.requests.count == 2)
    }

    @Test func `an answer for one client alone is given to no other`() throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                _ = try mayAnswer.wait(for: "the clients") { $0 }
                try connection.send(response("for \(connection.number)", fields: "Cache-Control: private\r\n"))
            }
        }
        let pintle = try PintleProcess(Self.configuration)
        let clients = try self.ask(5, get(origin.port), through: pintle)
        #expect(try origin.waitForRequests(1).count == 1)
        mayAnswer.change { $0 = true }
        for client in clients { #expect(try client.readResponse().text.hasPrefix("for ")) }
        #expect(origin.requests.count == 5)
        #expect(try pintle.counters()["coalesced"] == nil)
    }

    @Test func `those who wait try themselves where the first request fails`() throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            guard connection.number > 0 else {
                _ = try mayAnswer.wait(for: "the clients") { $0 }
                return
            }
            try connection.send(response("well", fields: "Cache-Control: max-age=60\r\n"))
        }
        let pintle = try PintleProcess(Self.configuration)
        let clients = try self.ask(4, get(origin.port), through: pintle)
        mayAnswer.change { $0 = true }
        let answers = try clients.map { try $0.readResponse() }
        #expect(answers.count { $0.head.status == 502 } == 1 && answers.count { $0.text == "well" } == 3)
    }

    @Test func `the request goes on when the client that has caused it leaves`() throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try mayAnswer.wait(for: "the clients") { $0 }
            try connection.send(response("still here", fields: "Cache-Control: max-age=60\r\n"))
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(Self.configuration)
        let first = try self.ask(1, get(origin.port), through: pintle)
        let others = try self.ask(3, get(origin.port), through: pintle, active: 4)
        first[0].reset()
        let error = try pintle.waitForExchanges(1)[0]["error"] as? String
        #expect(error == "the client closed the connection")
        mayAnswer.change { $0 = true }
        for client in others { #expect(try client.readResponse().text == "still here") }
        #expect(try origin.waitForRequests(1).count == 1)
    }

    @Test func `a request that nobody waits for any more is given up`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(Self.configuration)
        let clients = try self.ask(3, get(origin.port), through: pintle)
        #expect(try origin.waitForRequests(1).count == 1)
        for client in clients { client.reset() }
        try origin.waitUntilQuiet()
    }

    @Test(arguments: ["fifo", "lifo"])
    func `so many requests are under way as the route allows, and the others come in their order`(order: String) throws
    {
        let mayAnswer = Watched(0)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                let number = try mayAnswer.wait(for: "a turn") { $0 > 0 }
                mayAnswer.change { $0 = number - 1 }
                try connection.send(response("x", fields: "Cache-Control: no-store\r\n"))
            }
        }
        let pintle = try PintleProcess(
            """
            engine: {threads: 1}
            routes: [{name: few, coalesce: {max_active: 1, order: \(order)}}]
            """)
        var clients: [SocketStream] = []
        for number in 0..<4 {
            clients += try self.ask(1, get(origin.port, "/\(number)"), through: pintle, active: number + 1)
        }
        #expect(try origin.waitForRequests(1).count == 1)
        for count in 1...4 {
            try origin.waitForRequests(count)
            mayAnswer.change { $0 += 1 }
        }
        for client in clients { #expect(try client.readResponse().text == "x") }
        let paths = origin.requests.compactMap { $0.head.startLine.split(separator: " ").dropFirst().first }
        #expect(paths == (order == "fifo" ? ["/0", "/1", "/2", "/3"] : ["/0", "/3", "/2", "/1"]))
    }

    @Test func `answers that are not to be stored come in their turn, too`() throws {
        let underWay = Watched((now: 0, most: 0))
        let mayAnswer = Watched(2)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                underWay.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                _ = try mayAnswer.wait(for: "a turn") { $0 > 0 }
                mayAnswer.change { $0 -= 1 }
                underWay.change { $0.now -= 1 }
                try connection.send(response("mine", fields: "Cache-Control: no-store\r\n"))
            }
        }
        let pintle = try PintleProcess(
            "routes: [{name: few, cache: {policy: protocol}, coalesce: {max_active: 1}}]")
        for path in ["/0", "/1"] { _ = try pintle.ask(get(origin.port, path)) }
        let clients = try (0..<6).map { _ in try pintle.connect() }
        for (number, client) in clients.enumerated() { try client.send(get(origin.port, "/\(number % 2)")) }
        try pintle.waitForCounter("active", clients.count)
        for count in 3...8 {
            try origin.waitForRequests(count)
            mayAnswer.change { $0 += 1 }
        }
        for client in clients { #expect(try client.readResponse().text == "mine") }
        #expect(origin.requests.count == 8 && underWay.current.most == 1)
    }

    @Test(arguments: ["", "coalesce: {}, "])
    func `no answer that was under way when a POST came is kept, however many there were`(coalesce: String) throws {
        let (version, mayEnd) = (Watched(1), Watched(false))
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if request.head.startLine.hasPrefix("POST") {
                    version.change { $0 = 2 }
                    try connection.send(response(""))
                    continue
                }
                let seen = version.current
                try connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\n\r\n\(seen)")
                if seen == 1 { _ = try mayEnd.wait(for: "the change") { $0 } }
                try connection.send(".")
            }
        }
        let pintle = try PintleProcess(
            "cache: {disk: off}\nroutes: [{name: kept, \(coalesce)cache: {policy: protocol}}]")
        // The second one asks for itself in any case.
        let clients = [
            try self.ask(1, get(origin.port), through: pintle),
            try self.ask(1, get(origin.port, fields: "Cache-Control: no-cache\r\n"), through: pintle, active: 2),
        ].flatMap(\.self)
        try origin.waitForRequests(coalesce.isEmpty ? 2 : 1)
        let post = "POST" + get(origin.port, fields: "Content-Length: 0\r\n").dropFirst("GET".count)
        #expect(try pintle.ask(post, method: "POST").head.status == 200)
        mayEnd.change { $0 = true }
        for client in clients { #expect(try client.readResponse().text.hasSuffix(".")) }
        let later = try pintle.ask(get(origin.port))
        #expect(later.text == "2." && later["Cache-Status"]?.contains(";hit") == false)
    }

    @Test func `a late answer that is not kept is given up, and so is its turn`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(Array("soon".utf8), to: "soon.txt")
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            guard request.head.startLine.contains("/endless") else { return try connection.send(response("ok")) }
            _ = try mayAnswer.wait(for: "the placeholder") { $0 }
            try connection.send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n")
            while true { try connection.send("a\r\n0123456789\r\n") }
        }
        let pintle = try PintleProcess(
            """
            cache: {disk: off}
            routes:
              - name: slow
                cache: {policy: protocol}
                coalesce: {max_active: 1}
                response: {placeholder: {file: soon.txt, status: 203}, placeholder_after: 50ms}
            """, folder: folder)
        #expect(try pintle.ask(get(origin.port, "/endless")).text == "soon")
        mayAnswer.change { $0 = true }
        // The connection of the abandoned request is closed, and the next request gets its turn.
        try origin.waitUntilQuiet()
        #expect(try pintle.ask(get(origin.port, "/other")).text == "ok")
        #expect(origin.requests.count == 2)
    }

    @Test func `a stale answer that the origin allows is for all who wait`() throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if request["If-None-Match"] == nil {
                    let fields = "Cache-Control: max-age=0, stale-if-error=600\r\nETag: \"v\"\r\n"
                    try connection.send(response("kept", fields: fields))
                } else {
                    _ = try mayAnswer.wait(for: "the clients") { $0 }
                    try connection.send(response("away", status: "503 Service Unavailable"))
                }
            }
        }
        let pintle = try PintleProcess(Self.configuration)
        #expect(try pintle.ask(get(origin.port)).text == "kept")
        let clients = try self.ask(4, get(origin.port), through: pintle)
        mayAnswer.change { $0 = true }
        for client in clients { #expect(try client.readResponse().text == "kept") }
        #expect(origin.requests.count == 2)
    }

    // MARK: Validations

    /// Keeps an answer, then answers each validation, when it may, with one thing and everything else with another.
    private func validating(
        _ kept: String, _ mayAnswer: Watched<Bool>, with validation: String, else other: String
    ) throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if request["X-First"] != nil {
                    try connection.send(response("kept", fields: "ETag: \"v\"\r\n\(kept)"))
                } else if request["If-None-Match"] != nil {
                    _ = try mayAnswer.wait(for: "the clients") { $0 }
                    try connection.send(validation)
                } else {
                    try connection.send(other)
                }
            }
        }
    }

    /// Makes the cache store an answer; then one client, with these fields, causes its validation, and two others wait for
    /// that.
    private func validate(
        _ origin: RawOrigin, through pintle: PintleProcess, fields: String = "", _ mayAnswer: Watched<Bool>
    ) throws -> (owner: Message, others: [Message]) {
        _ = try pintle.ask(get(origin.port, fields: "X-First: yes\r\n"))
        let owner = try self.ask(1, get(origin.port, fields: fields), through: pintle)
        try origin.waitForRequests(2)
        let others = try self.ask(2, get(origin.port), through: pintle, active: 3)
        mayAnswer.change { $0 = true }
        return (try owner[0].readResponse(), try others.map { try $0.readResponse() })
    }

    @Test func `cookies of a 304 are for the client whose request it answers`() throws {
        let mayAnswer = Watched(false)
        let origin = try self.validating(
            "Cache-Control: max-age=0\r\n", mayAnswer,
            with: "HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\nCache-Control: max-age=60\r\n"
                + "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n",
            else: response("not asked for"))
        let pintle = try PintleProcess(Self.configuration)
        let (owner, others) = try self.validate(origin, through: pintle, mayAnswer)
        #expect(owner.text == "kept" && owner.head.values("Set-Cookie") == ["a=1", "b=2"])
        let later = try pintle.ask(get(origin.port))
        for other in others + [later] { #expect(other.text == "kept" && other["Set-Cookie"] == nil) }
        #expect(later["Cache-Status"]?.contains(";hit") == true && origin.requests.count == 2)
    }

    @Test func `a 304 with no-store is for one client, and what it was about is gone`() throws {
        let mayAnswer = Watched(false)
        let origin = try self.validating(
            "Cache-Control: max-age=0\r\n", mayAnswer,
            with: "HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\nCache-Control: no-store\r\nSet-Cookie: a=1\r\n\r\n",
            else: response("another", fields: "Cache-Control: no-store\r\n"))
        let pintle = try PintleProcess(Self.configuration)
        let (owner, others) = try self.validate(origin, through: pintle, mayAnswer)
        #expect(owner.text == "kept" && owner["Cache-Control"] == "no-store" && owner["Set-Cookie"] == "a=1")
        for other in others { #expect(other.text == "another" && other["Set-Cookie"] == nil) }
        let later = try pintle.ask(get(origin.port))
        #expect(later.text == "another" && later["Cache-Status"]?.contains("fwd=uri-miss") == true)
        #expect(origin.requests.count == 5)
    }

    @Test func `a stale answer for an origin that fails is for the client that takes one`() throws {
        let mayAnswer = Watched(false)
        let failure = response("away", status: "503 Service Unavailable")
        let origin = try self.validating("Cache-Control: max-age=0\r\n", mayAnswer, with: failure, else: failure)
        let pintle = try PintleProcess(Self.configuration)
        let (owner, others) = try self.validate(
            origin, through: pintle, fields: "Cache-Control: stale-if-error=600\r\n", mayAnswer)
        #expect(owner.head.status == 200 && owner.text == "kept" && owner["Age"] != nil)
        for other in others { #expect(other.head.status == 503 && other.text == "away") }
        #expect(origin.requests.count == 4)
        #expect(try pintle.waitForExchanges(4).filter { $0["cache"] as? String == "stale" }.count == 1)
    }
}
