// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleSystem

/// Asks name servers for CAA records, which the system's resolver does not look up. Blocks its thread.
struct NameServerClient: Sendable {
    /// The reason why there is no answer, as the end of a sentence.
    struct Failure: Error, Hashable, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private typealias Deadline = ContinuousClock.Instant

    /// Each server is asked that often, as datagrams get lost.
    private static let rounds = 2
    /// The time after which the next server is asked.
    private static let patience = Duration.seconds(3)
    private static let longestMessage = 0xFFFF

    /// The servers, in the order in which they are asked.
    let servers: [SocketAddress]

    /// Asks one server after the other until one answers.
    func ask(_ question: CAAQuestion, until deadline: ContinuousClock.Instant) throws(Failure) -> CAAReply {
        var failure = Failure(
            self.servers.isEmpty ? "no name server is known; name one with --resolver" : "no time is left to ask for it"
        )
        for _ in 0..<Self.rounds {
            for server in self.servers where .now < deadline {
                do throws(Failure) {
                    return try self.ask(server, question, until: min(deadline, .now + Self.patience))
                } catch {
                    failure = error
                }
            }
        }
        throw failure
    }

    private func ask(
        _ server: SocketAddress, _ question: CAAQuestion, until deadline: Deadline
    ) throws(Failure) -> CAAReply {
        var reply = try Self.exchange(SOCK_DGRAM, with: server, until: deadline) { (connection) throws(Failure) in
            try connection.send(question.bytes)
            while true {
                let message = try connection.receive(atMost: Self.longestMessage)
                do throws(CAAReply.Failure) {
                    return try CAAReply(message, to: question)
                } catch {
                    // Datagrams with answers to other questions may be forged; the right one may still come.
                    if case .malformed(let reason) = error { throw connection.failure(reason) }
                }
            }
        }
        if reply.isTruncated {
            reply = try Self.exchange(SOCK_STREAM, with: server, until: deadline) { (connection) throws(Failure) in
                let bytes = question.bytes
                try connection.send([UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes)
                let head = try connection.receive(exactly: 2)
                let message = try connection.receive(exactly: Int(head[0]) << 8 | Int(head[1]))
                do throws(CAAReply.Failure) {
                    return try CAAReply(message, to: question)
                } catch {
                    switch error {
                    case .foreign: throw connection.failure("its answer is to another question")
                    case .malformed(let reason): throw connection.failure(reason)
                    }
                }
            }
        }
        switch reply.code {
        case CAAReply.Code.success, CAAReply.Code.noSuchName: return reply
        default: throw Failure("\(Self.name(of: server)) answers with \(Self.words(for: reply.code))")
        }
    }

    /// Names of the codes of answers (RFC 1035 §4.1.1).
    private static func words(for code: Int) -> String {
        switch code {
        case 1: "FORMERR"
        case 2: "SERVFAIL"
        case 4: "NOTIMP"
        case 5: "REFUSED"
        default: "the code \(code)"
        }
    }

    private static func name(of server: SocketAddress) -> String {
        "the name server \(server.ipAddress ?? "") at port \(server.port ?? 0)"
    }

    // MARK: Sockets

    private static func exchange(
        _ kind: __socket_type, with server: SocketAddress, until deadline: Deadline,
        _ body: (Connection) throws(Failure) -> CAAReply
    ) throws(Failure) -> CAAReply {
        let family: Int32 = server.protocol == .inet6 ? AF_INET6 : AF_INET
        let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = DescriptorReserve.admitted(socket(family, Int32(kind.rawValue | flags), 0))
        let connection = Connection(descriptor: descriptor, name: Self.name(of: server), deadline: deadline)
        guard descriptor >= 0 else { throw connection.lastFailure }
        defer { close(descriptor) }
        let code = server.withSockAddr { place, size in connect(descriptor, place, socklen_t(size)) == 0 ? 0 : errno }
        guard code == 0 || code == EINPROGRESS else { throw connection.failure(SystemError(code).description) }
        return try body(connection)
    }

    /// A connected socket that does not block.
    private struct Connection {
        let descriptor: Int32
        /// The server's name, for messages.
        let name: String
        let deadline: Deadline

        func failure(_ reason: String) -> Failure { Failure("\(self.name) gives no answer: \(reason)") }

        var lastFailure: Failure { self.failure(SystemError.last.description) }

        func send(_ bytes: [UInt8]) throws(Failure) {
            try self.wait(for: POLLOUT)
            // A question is far shorter than what a socket takes at once.
            guard Glibc.send(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                throw self.lastFailure
            }
        }

        /// Returns the bytes that come next, one datagram or a part of a stream; empty at its end.
        func receive(atMost count: Int) throws(Failure) -> [UInt8] {
            try self.wait(for: POLLIN)
            var size = -1
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { space, used in
                size = recv(self.descriptor, space.baseAddress, count, 0)
                used = max(0, size)
            }
            guard size >= 0 else { throw self.lastFailure }
            return bytes
        }

        func receive(exactly count: Int) throws(Failure) -> [UInt8] {
            var bytes: [UInt8] = []
            while bytes.count < count {
                let more = try self.receive(atMost: count - bytes.count)
                guard !more.isEmpty else { throw self.failure("it closed the connection") }
                bytes += more
            }
            return bytes
        }

        private func wait(for events: Int32) throws(Failure) {
            while true {
                let left = self.deadline - .now
                guard left > .zero else { throw self.failure("it says nothing within the time limit") }
                var item = pollfd(fd: self.descriptor, events: Int16(events), revents: 0)
                let milliseconds = Int32(clamping: left.components.seconds) &* 1000
                let fraction = Int32(left.components.attoseconds / 1_000_000_000_000_000)
                let count = poll(&item, 1, milliseconds + fraction + 1)
                if count > 0 { return }
                guard count == 0 || errno == EINTR else { throw self.lastFailure }
            }
        }
    }
}
