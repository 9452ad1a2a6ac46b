// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop

/// What the connections of one loop share. Used on the loop's thread only.
final class Lane: @unchecked Sendable {
    // Why @unchecked holds: `loop` is constant, and everything else is touched on its thread only.
    let loop: Loop
    /// What is in force for what begins now; exchanges keep the one that they began with.
    private(set) var gate: Gate
    let census: ConnectionCensus
    /// What is held for others, on all loops.
    let memory: MemoryBudget
    /// Does on other threads what would hold this one up.
    let pool: WorkPool
    private(set) var connections: [ObjectIdentifier: ClientConnection] = [:]
    private(set) var tunnels: [ObjectIdentifier: Tunnel] = [:]
    private(set) var isDraining = false
    /// Exchanges that wait for work on another thread. Only their number leaves this one.
    private var waiting: [UInt64: Exchange] = [:]
    /// Has the destinations of tunnels prove themselves.
    private(set) lazy var verifier = TunnelVerifier(lane: self)
    private var whenEmpty: EventLoopPromise<Void>?
    private var output = ByteBuffer()
    private var sequence: UInt64
    private let instance: UInt64

    init(loop: Loop, gate: Gate, census: ConnectionCensus, pool: WorkPool) {
        self.loop = loop
        self.gate = gate
        self.census = census
        self.memory = gate.counters.memory
        self.pool = pool
        self.instance = UInt64.random(in: 0...0xFFFF_FFFF)
        self.sequence = 0
    }

    /// Puts another configuration in force.
    func replace(gate: Gate) { self.gate = gate }

    /// An exchange's id: unlike that of any other exchange, here or in another process.
    func nextID() -> ExchangeID {
        self.sequence += 1
        return ExchangeID(instance: self.instance, sequence: self.sequence)
    }

    // MARK: Work on other threads

    /// Keeps an exchange until its work is done.
    func wait(for exchange: Exchange) -> UInt64 {
        self.waiting[exchange.report.id.sequence] = exchange
        return exchange.report.id.sequence
    }

    /// The exchange that waited.
    func resume(_ ticket: UInt64) -> Exchange? { self.waiting.removeValue(forKey: ticket) }

    // MARK: Buffers

    /// A buffer to write a response into; most responses are sent at once, and then the next one uses it again.
    func takeOutput() -> ByteBuffer {
        var buffer = ByteBuffer()
        swap(&buffer, &self.output)
        buffer.clear(minimumCapacity: 4096)
        return buffer
    }

    func giveBack(_ buffer: ByteBuffer) {
        if buffer.capacity <= 128 * 1024 { self.output = buffer }
    }

    // MARK: Connections

    func add(_ connection: ClientConnection) { self.connections[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: ClientConnection) {
        self.connections[ObjectIdentifier(connection)] = nil
        self.tellIfEmpty()
    }

    func add(_ tunnel: Tunnel) { self.tunnels[ObjectIdentifier(tunnel)] = tunnel }

    func remove(_ tunnel: Tunnel) {
        self.tunnels[ObjectIdentifier(tunnel)] = nil
        self.tellIfEmpty()
    }

    /// Lets exchanges finish, closes what is idle, and keeps the promise when nothing is left.
    func drain(_ done: EventLoopPromise<Void>) {
        self.isDraining = true
        self.whenEmpty = done
        for connection in self.connections.values { connection.drain() }
        self.tellIfEmpty()
    }

    /// Closes everything.
    func closeAll() {
        for connection in self.connections.values { connection.abort() }
        for tunnel in self.tunnels.values { tunnel.abort() }
    }

    private func tellIfEmpty() {
        guard self.connections.isEmpty, self.tunnels.isEmpty, let done = self.whenEmpty else { return }
        self.whenEmpty = nil
        done.succeed()
    }
}

/// Names one exchange in problems and logs; spelled only where it is shown.
struct ExchangeID: CustomStringConvertible {
    let instance: UInt64
    let sequence: UInt64

    var description: String { String(self.instance, radix: 16) + "-" + String(self.sequence, radix: 16) }
}
