// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

/// Plays a case: takes its steps one by one, and then shows that nothing else has happened.
final class WireStage {
    private let pintle: PintleProcess
    private let way: OriginWay
    private let origin: PuppetOrigin
    private var client: SocketStream
    private var isClientOpen = true
    /// The origin's connection that the case's steps use.
    private var current = -1
    /// The method of the client's last request.
    private var method = "GET"

    private init(_ pintle: PintleProcess, _ way: OriginWay, _ parent: ParentPort?) throws {
        self.pintle = pintle
        self.way = way
        self.origin = try PuppetOrigin(by: way, at: parent)
        self.client = try pintle.connect()
    }

    /// - Throws: ``TestFailure`` with the number of the step that did not go as it must.
    static func play(
        _ test: WireCase, on pintle: PintleProcess, by way: OriginWay = .straight, at parent: ParentPort? = nil
    ) throws {
        let stage = try WireStage(pintle, way, parent)
        defer { stage.origin.stop() }
        if way.isUsed {
            for step in WireCase.use { try stage.take(step) }
            guard stage.origin.connectionCount == 1 else { throw TestFailure("no connection was used again") }
        }
        for (index, step) in test.steps.enumerated() {
            do {
                try stage.take(step)
            } catch {
                throw TestFailure("step \(index + 1), \(step): \(error)")
            }
        }
        if let connections = test.connections, connections != stage.origin.connectionCount {
            throw TestFailure("the origin has seen \(stage.origin.connectionCount) connections, not \(connections)")
        }
        try stage.checkAfterwards()
    }

    // MARK: Steps

    private func take(_ step: WireCase.Step) throws {
        switch step {
        case .client(let text):
            self.noteMethod(text)
            try self.client.send(self.bytes(self.way.asked(text)))
        case .clientTries(let text): try? self.client.send(self.bytes(self.way.asked(text)))
        case .clientFinishes: self.client.finishSending()
        case .clientLeaves:
            self.client.close()
            self.isClientOpen = false
        case .clientResets:
            self.client.reset()
            self.isClientOpen = false
        case .newClient:
            self.client = try self.pintle.connect()
            self.isClientOpen = true
        case .answer(let text): try self.expectAnswer(self.bytes(text))
        case .refusal(let status, let problem):
            try self.expectProblem(status, problem, closes: true)
            try self.expectEnd()
        case .problem(let status, let problem): try self.expectProblem(status, problem, closes: false)
        case .cut: try self.expectCut()
        case .closed: try self.expectEnd()
        case .seen(let text):
            self.current = try self.origin.waitForBytes(text.text)
            try self.origin.take(self.bytes(self.way.seen(text)), on: self.current)
        case .origin(let text): try self.origin.send(self.bytes(text), on: self.current)
        case .originTries(let text): try? self.origin.send(self.bytes(text), on: self.current)
        case .originCloses: self.origin.close(self.current)
        case .originFinishes: self.origin.finishSending(on: self.current)
        case .originResets: self.origin.reset(self.current)
        case .originAbandoned:
            let rest = try self.origin.waitForEnd(of: self.current)
            guard rest.isEmpty else { throw TestFailure("the origin got more:\n\(shown(rest))") }
        }
    }

    private func bytes(_ text: WireBytes) -> [UInt8] { text.bytes(originPort: self.origin.port) }

    private func noteMethod(_ text: WireBytes) {
        if text.text.contains("HTTP/1."), let method = text.text.split(separator: " ").first {
            self.method = String(method)
        }
    }

    // MARK: Answers to the client

    private func expectAnswer(_ expected: [UInt8]) throws {
        while true {
            let there = self.client.unread
            let dates = Self.addedDates(in: there)
            var (bare, rest) = ([UInt8](), 0)
            for date in dates {
                bare += there[rest..<date.lowerBound]
                rest = date.upperBound
            }
            bare += there[rest...]
            if bare.starts(with: expected) {
                // Another answer with its own date may follow.
                var count = expected.count
                for date in dates where date.lowerBound < count { count += date.count }
                _ = try self.client.read(count)
                return
            }
            guard expected.starts(with: bare), try self.client.fill() else {
                throw TestFailure("the client got:\n\(shown(there))\nand not:\n\(shown(expected))")
            }
        }
    }

    /// The Date lines that the proxy adds to responses without one (RFC 9110 §6.6.1), the last one perhaps cut off.
    ///
    /// Cases speak of other things, and those that have a Date have none that could be a date.
    private static func addedDates(in bytes: [UInt8]) -> [Range<Int>] {
        let (start, length) = (Array("\r\nDate: ".utf8), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n".utf8.count)
        var dates: [Range<Int>] = []
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var place = 0
            // A search of the system's: bodies have megabytes.
            while let found = memchr(base + place, 0x0D, bytes.count - place) {
                let line = UnsafeRawPointer(found) - base + 2
                place = line - 1
                guard bytes.count >= line - 2 + start.count, memcmp(found, start, start.count) == 0 else { continue }
                let end = min(line + length, bytes.count)
                place = line
                let isDate = end < line + length || bytes[(end - 6)..<end].elementsEqual(" GMT\r\n".utf8)
                if isDate { dates.append(line..<end) }
            }
            // A truncated field name may be that of a date: more has to come.
            for count in 2..<start.count where bytes.suffix(count).elementsEqual(start.prefix(count)) {
                dates.append(bytes.count - count + 2..<bytes.count)
            }
        }
        return dates
    }

    /// The contract's answer to a refused request (§3.4).
    private func expectProblem(_ status: Int, _ problem: String, closes: Bool) throws {
        let answer = try self.client.readResponse(to: self.method)
        let isNamed =
            answer.text.contains("\"urn:pintle:problem:\(problem)\"") && answer.text.contains("\"status\":\(status)")
        let isRight =
            answer.status == status && answer["Content-Type"] == "application/problem+json"
            && (self.method == "HEAD" ? answer.body.isEmpty : isNamed)
            && answer["Proxy-Status"]?.hasPrefix("pintle; error=") == true
            && (answer["Connection"] == "close") == closes
        guard isRight else { throw TestFailure("the client got \(answer.head)\n\(answer.text)") }
    }

    private func expectEnd() throws {
        let rest = try self.client.readToEnd()
        self.isClientOpen = false
        guard rest.bytes.isEmpty, rest.ending == .closed else {
            throw TestFailure("the client's connection ends with \(rest.ending) after:\n\(shown(rest.bytes))")
        }
    }

    private func expectCut() throws {
        let rest = try self.client.readToEnd()
        self.isClientOpen = false
        let all = self.client.received
        guard !FramingJudge.isComplete(all, to: self.method, ending: rest.ending) else {
            throw TestFailure("the client takes this for a whole response:\n\(shown(all))")
        }
        // The cases use the word `evil` for bytes that no client may get.
        guard rest.bytes.firstRange(of: Array("evil".utf8)) == nil else {
            throw TestFailure("the client got what was not for it:\n\(shown(all))")
        }
    }

    // MARK: Afterwards

    /// No byte is anywhere that no step has spoken of, and the proxy serves this client and others as ever: each gets
    /// its own answer, and the origin sees nothing in front of its request.
    private func checkAfterwards() throws {
        if self.isClientOpen { try self.checkServes(self.client, "/same") }
        try self.checkServes(try self.pintle.connect(), "/other")
        for number in 0..<self.origin.connectionCount {
            let rest = self.origin.unread(on: number)
            guard rest.isEmpty else { throw TestFailure("the origin got what nobody sent:\n\(shown(rest))") }
        }
    }

    private func checkServes(_ client: SocketStream, _ path: String) throws {
        do {
            self.client = client
            try client.send(self.bytes(self.way.asked(ask("GET", path))))
            let number = try self.origin.waitForBytes("GET \(path)")
            try self.origin.take(self.bytes(self.way.seen(asked("GET", path))), on: number)
            try self.origin.send(self.bytes(ok("own \(path)")), on: number)
            try self.expectAnswer(self.bytes(okSeen("own \(path)")))
            guard client.unread.isEmpty else { throw TestFailure("there is more:\n\(shown(client.unread))") }
        } catch {
            throw TestFailure("afterwards, \(path): \(error)")
        }
    }
}
