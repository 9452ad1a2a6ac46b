// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// A name server on 127.0.0.1, over UDP and TCP, that answers questions for CAA records as a zone says.
package final class ScriptedNameServer: Sendable {
    /// One record: its property, its value, and its flag.
    package struct Record: Sendable {
        package let tag: String
        package let value: String
        package let isCritical: Bool

        package init(_ tag: String, _ value: String, isCritical: Bool = false) {
            self.tag = tag
            self.value = value
            self.isCritical = isCritical
        }

        fileprivate var data: [UInt8] {
            [self.isCritical ? 128 : 0, UInt8(self.tag.utf8.count)] + Array(self.tag.utf8) + Array(self.value.utf8)
        }
    }

    package enum Answer: Sendable {
        /// The records of the name; it may have none.
        case records([Record])
        /// The name is an alias; the records are those of the other name.
        case alias(String, [Record])
        /// The answer does not fit into a datagram, and comes by TCP.
        case byStream([Record])
        /// No records, and this RCODE.
        case code(UInt8)
        case silence
        /// Messages that are made from the question, each in a datagram of its own.
        case messages(@Sendable (_ question: [UInt8]) -> [[UInt8]])
    }

    /// The port, which is the same for UDP and TCP.
    package let port: Int
    private let datagrams: Int32
    private let streams: Int32
    private let seen = Watched<[String]>([])
    private let running = Watched(2)
    private let isStopped = Watched(false)

    /// Starts the server. Names outside the zone do not exist.
    package init(_ zone: [String: Answer]) throws {
        (self.datagrams, self.streams) = try Self.sockets()
        self.port = LoopbackAddress.port(of: self.datagrams)
        let (datagrams, streams, seen) = (self.datagrams, self.streams, self.seen)
        let (running, isStopped) = (self.running, self.isStopped)
        let reply = { @Sendable (question: [UInt8], isStream: Bool) -> [[UInt8]] in
            let name = Self.name(in: question)
            seen.change { $0.append(isStream ? "tcp \(name)" : name) }
            return Self.replies(to: question, zone[name] ?? .code(3), isStream: isStream)
        }
        Thread.detachNewThread {
            while !isStopped.current { Self.answerDatagram(on: datagrams, reply) }
            running.change { $0 -= 1 }
        }
        Thread.detachNewThread {
            while !isStopped.current {
                let accepted = accept(streams, nil, nil)
                guard accepted >= 0 else { continue }
                Self.answerStream(accepted, reply)
                close(accepted)
            }
            running.change { $0 -= 1 }
        }
    }

    deinit { self.stop() }

    /// The names that were asked for, in order; those over TCP as `tcp a.test`.
    package var asked: [String] { self.seen.current }

    /// Ends the threads and closes the sockets.
    private func stop() {
        self.isStopped.change { $0 = true }
        shutdown(self.streams, Int32(SHUT_RDWR))
        // An empty datagram wakes the thread that waits for questions.
        let waker = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if LoopbackAddress.connect(waker, port: self.port) == 0 { send(waker, nil, 0, 0) }
        close(waker)
        _ = try? self.running.wait(for: "the name server's threads to end") { $0 == 0 }
        close(self.datagrams)
        close(self.streams)
    }

    /// Returns two sockets with one port. The port that the system chooses for one may be in use for the other.
    private static func sockets() throws -> (datagrams: Int32, streams: Int32) {
        for _ in 0..<100 {
            let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            let streams = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            if LoopbackAddress.bind(datagrams, port: 0) == 0,
                LoopbackAddress.bind(streams, port: LoopbackAddress.port(of: datagrams)) == 0, listen(streams, 16) == 0
            {
                return (datagrams, streams)
            }
            close(datagrams)
            close(streams)
        }
        throw TestFailure("a scripted name server finds no port for UDP and TCP")
    }

    private static func answerDatagram(on descriptor: Int32, _ reply: ([UInt8], Bool) -> [[UInt8]]) {
        var question = [UInt8](repeating: 0, count: 2048)
        var peer = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let count = withUnsafeMutablePointer(to: &peer) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, &question, question.count, 0, $0, &size)
            }
        }
        guard count > 12 else { return }
        for message in reply(Array(question[..<count]), false) {
            withUnsafePointer(to: &peer) { place in
                _ = place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(descriptor, message, message.count, 0, $0, size)
                }
            }
        }
    }

    private static func answerStream(_ descriptor: Int32, _ reply: ([UInt8], Bool) -> [[UInt8]]) {
        var bytes = [UInt8](repeating: 0, count: 2048)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 14 else { return }
        for message in reply(Array(bytes[2..<count]), true) {
            let framed = Self.word(message.count) + message
            send(descriptor, framed, framed.count, Int32(MSG_NOSIGNAL))
        }
    }

    // MARK: Messages

    /// The place behind the question of a message that has one.
    private static func endOfQuestion(_ message: [UInt8]) -> Int {
        var place = 12
        while place < message.count, message[place] > 0 { place += 1 + Int(message[place]) }
        return min(place + 5, message.count)
    }

    private static func name(in message: [UInt8]) -> String {
        var labels: [String] = []
        var place = 12
        while place < message.count, message[place] > 0 {
            let size = Int(message[place])
            labels.append(String(decoding: message[(place + 1)...].prefix(size), as: UTF8.self))
            place += 1 + size
        }
        return labels.joined(separator: ".")
    }

    private static func word(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] }

    private static func replies(to question: [UInt8], _ answer: Answer, isStream: Bool) -> [[UInt8]] {
        switch answer {
        case .records(let records): [Self.message(to: question, records)]
        case .alias(let target, let records): [Self.message(to: question, alias: target, records)]
        case .byStream(let records):
            [isStream ? Self.message(to: question, records) : Self.message(to: question, flags: 0x83, [])]
        case .code(let code): [Self.message(to: question, code: code, [])]
        case .silence: []
        case .messages(let make): make(question)
        }
    }

    /// Returns an answer to a question.
    ///
    /// - Parameters:
    ///   - flags: the first byte of the flags: a response, with recursion desired.
    ///   - alias: the name that has the records, if it is not the question's.
    package static func message(
        to question: [UInt8], flags: UInt8 = 0x81, code: UInt8 = 0, alias: String? = nil, _ records: [Record]
    ) -> [UInt8] {
        let end = Self.endOfQuestion(question)
        var message = question[..<2] + [flags, 0x80 | code] + Self.word(1)
        message += Self.word(records.count + (alias == nil ? 0 : 1)) + [0, 0, 0, 0] + question[12..<end]
        // Names of records lead back to the question's, and to the target of the alias.
        var owner: [UInt8] = [0xC0, 12]
        if let alias {
            let labels = alias.split(separator: ".").map { [UInt8($0.utf8.count)] + Array($0.utf8) }
            let target = labels.flatMap(\.self) + [0]
            message += owner + Self.word(5) + Self.word(1) + [0, 0, 0, 60] + Self.word(target.count)
            owner = [0xC0 | UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
            message += target
        }
        for record in records {
            message +=
                owner + Self.word(257) + Self.word(1) + [0, 0, 0, 60] + Self.word(record.data.count) + record.data
        }
        return Array(message)
    }
}
