// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOCore
import PintleLoop
import PintleTesting
import Testing

/// A relay whose two peers are plain, blocking sockets in the test's hands.
final class RelayStage: @unchecked Sendable {
    // Why @unchecked holds: the relay is used on the loop's thread, the sockets by the test, and one thread reads each.
    enum Kind: Sendable, CaseIterable { case tcp, unix }

    let loop: Loop
    let observer: RelayObserver
    private let bound: LoopBox<SocketRelay>
    private(set) var client: Int32
    private(set) var server: Int32

    /// - Parameters:
    ///   - pipes: the number of pipes; 0 for a loop that must copy.
    ///   - receiveBuffer: the bytes that the kernel keeps for each peer before it reads them.
    ///   - unsent: bytes that were written to the client's channel and not sent.
    ///   - sent: bytes that the client has sent before.
    ///   - inspecting: the directions in which the observer looks at bytes.
    ///   - transport: makes the transport of the relay's socket towards the client.
    init(
        _ kind: Kind = .tcp, pipes: Int? = nil, receiveBuffer: Int32? = nil, unsent: String = "", sent: String = "",
        inspecting: [SocketRelay.Direction] = [], transport: (@Sendable (Int32) -> any StreamTransport)? = nil
    ) throws {
        let (client, ownClient) = try Self.pair(kind, receiveBuffer)
        let (server, ownServer) = try Self.pair(kind, receiveBuffer)
        let (loop, observer) = (try Loop(name: "relay"), RelayObserver())
        self.loop = loop
        self.observer = observer
        (self.client, self.server) = (client, server)
        self.bound = try loop.submit {
            if let pipes { loop.pipeLimit = pipes }
            let near = SocketChannel(descriptor: ownClient, loop: loop, transport: transport?(ownClient))
            near.start()
            // The bytes are not flushed: the relay must send them.
            near.pipeline.syncOperations.write(NIOAny(ByteBuffer(string: unsent)), promise: nil)
            let far = SocketChannel(descriptor: ownServer, loop: loop)
            guard let released = near.release(), let other = far.release() else {
                throw TestFailure("a channel did not give its socket up")
            }
            let relay = SocketRelay(client: released, server: other, on: loop, account: observer)
            for direction in inspecting { relay.inspect(direction, true) }
            relay.start(observer, sent: ByteBuffer(string: sent), answered: ByteBuffer())
            return LoopBox(relay)
        }.wait()
    }

    deinit {
        self.closeClient()
        self.closeServer()
        _ = try? self.onLoop { $0.abort() }
        self.loop.stop()
    }

    @discardableResult
    func onLoop<Result: Sendable>(_ work: @escaping @Sendable (SocketRelay) -> Result) throws -> Result {
        // The closure must not hold this stage: the last owner to release it stops the loop, which the loop's own thread
        // must not do.
        try self.loop.submit { [bound] in work(bound.value) }.wait()
    }

    func closeClient(resetting: Bool = false) {
        Self.close(&self.client, resetting)
    }

    func closeServer(resetting: Bool = false) {
        Self.close(&self.server, resetting)
    }

    /// Waits until the relay has closed both sockets.
    func waitForEnd() throws {
        try self.observer.events.wait(for: "the relay's end") { $0.last == "closed" }
        #expect(try self.pipesInUse() == 0)
    }

    // MARK: Plain sockets

    /// Two ends of a connection: the test's, which blocks, and the relay's.
    private static func pair(_ kind: Kind, _ receiveBuffer: Int32?) throws -> (test: Int32, own: Int32) {
        let form = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        var ends: [Int32] = [-1, -1]
        switch kind {
        case .unix:
            guard socketpair(AF_UNIX, form, 0, &ends) == 0 else { throw TestFailure("socketpair: errno \(errno)") }
        case .tcp:
            let listener = socket(AF_INET, form, 0)
            defer { Glibc.close(listener) }
            let any = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
            guard any.withSockAddr({ Glibc.bind(listener, $0, socklen_t($1)) }) == 0, listen(listener, 1) == 0,
                let address = SocketAddress(boundTo: listener)
            else { throw TestFailure("listen: errno \(errno)") }
            ends[0] = socket(AF_INET, form, 0)
            if var size = receiveBuffer {
                setsockopt(ends[0], SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            guard address.withSockAddr({ connect(ends[0], $0, socklen_t($1)) }) == 0 else {
                throw TestFailure("connect: errno \(errno)")
            }
            ends[1] = accept(listener, nil, nil)
        }
        guard ends[1] >= 0, fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 else {
            throw TestFailure("no connection: errno \(errno)")
        }
        return (ends[0], ends[1])
    }

    private static func close(_ descriptor: inout Int32, _ resetting: Bool) {
        guard descriptor >= 0 else { return }
        if resetting {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(descriptor)
        descriptor = -1
    }
}

/// Writes all of it, as a blocking socket does; how much was taken before the peer was gone.
@discardableResult
func sendAll(_ bytes: [UInt8], to descriptor: Int32) -> Int {
    var sent = 0
    while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { break }
        sent += count
    }
    return sent
}

@discardableResult
func sendAll(_ text: String, to descriptor: Int32) -> Int { sendAll(Array(text.utf8), to: descriptor) }

/// Reads until there are `count` bytes or the end comes; nil if the connection was reset.
func receive(_ count: Int = .max, from descriptor: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var space = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < count {
        let got = recv(descriptor, &space, min(space.count, count - bytes.count), 0)
        if got < 0 { return nil }
        if got == 0 { break }
        bytes += space[..<got]
    }
    return bytes
}

func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

/// Runs `work` on a new thread; its result can be waited for.
func beside<Result: Sendable>(_ work: @escaping @Sendable () -> Result) -> Watched<Result?> {
    let result = Watched<Result?>(nil)
    Thread.detachNewThread {
        let value = work()
        result.change { $0 = value }
    }
    return result
}

/// Records the events of a relay, and the bytes in directions that it inspects.
final class RelayObserver: SocketRelayDelegate, PendingWriteAccount, Sendable {
    let events = Watched<[String]>([])
    let seen = Watched("")
    let copied = Watched(0)
    /// The verdict on inspected bytes; all pass unless it is set.
    let verdict = Watched<@Sendable (SocketRelay, ByteBuffer) -> ByteBuffer?>({ $1 })

    func relay(
        _ relay: SocketRelay, read bytes: ByteBuffer, going direction: SocketRelay.Direction
    ) -> ByteBuffer? {
        self.seen.change { $0 += String(decoding: bytes.readableBytesView, as: UTF8.self) }
        return self.verdict.current(relay, bytes)
    }

    func relay(_ relay: SocketRelay, finishedReading direction: SocketRelay.Direction) {
        self.events.change { $0.append("\(direction) read") }
    }

    func relayEnded(_ relay: SocketRelay) { self.events.change { $0.append("ended") } }

    func relayClosed(_ relay: SocketRelay) { self.events.change { $0.append("closed") } }

    func waitingBytes(changedBy change: Int) { self.copied.change { $0 += change } }
}

extension RelayStage {
    func pipesInUse() throws -> Int { try self.loop.submit { [loop] in loop.pipesInUse }.wait() }

    /// Waits until a receiver takes nothing more, and bytes are in flight.
    func waitUntilFull(_ direction: SocketRelay.Direction) throws {
        var before = -1
        while true {
            // A turn of the loop that moves nothing, with something to move, has found its receiver full.
            let (written, inFlight) = try self.onLoop { ($0.bytesWritten(direction), $0.bytesInFlight(direction)) }
            if inFlight > 0, written == before { return }
            before = written
        }
    }
}
