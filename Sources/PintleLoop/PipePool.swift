// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import NIOCore
internal import PintleSystem

/// The pipes of one loop, through which bytes are moved between its sockets without being copied.
///
/// A pipe is taken while it holds bytes, and given back empty. A few empty pipes are kept, and closed if they are not
/// needed for a while. Used on the loop's thread only.
final class PipePool {
    /// A pipe that is in use; it is given back or thrown away.
    struct Pipe {
        fileprivate(set) var readEnd: Int32 = -1
        fileprivate(set) var writeEnd: Int32 = -1
    }

    /// Capacity of a pipe in bytes: a larger one makes bulk no cheaper.
    static let capacity = 1 << 20
    /// The least useful capacity: below it, moving costs more system calls than copying. A user who has many pipes gets new
    /// ones of two pages from the kernel (pipe(7)).
    private static let leastCapacity = 1 << 16
    /// The time after which pipes are closed that were idle throughout.
    private static let period = TimeAmount.seconds(1)

    /// The most pipes in use at once. A client that does not read keeps one, full, and descriptors must be left for other
    /// clients.
    var limit = 64
    private var idle: [Pipe] = []
    private(set) var taken = 0
    /// The fewest pipes that were idle at once since the timer was armed.
    private var leastIdle = 0
    private var timer: LoopTimer?

    deinit { for pipe in self.idle { Self.close(pipe) } }

    /// Returns an empty pipe; nil if no more can be had now.
    func take() -> Pipe? {
        guard self.taken < self.limit else { return nil }
        if let pipe = self.idle.popLast() {
            self.leastIdle = min(self.leastIdle, self.idle.count)
            self.taken += 1
            return pipe
        }
        guard let pipe = Self.make() else { return nil }
        self.taken += 1
        return pipe
    }

    /// Takes back an empty pipe.
    func giveBack(_ pipe: Pipe, on loop: Loop) {
        self.taken -= 1
        self.idle.append(pipe)
        let timer = self.timer ?? LoopTimer { [unowned self, unowned loop] in self.closeUnneeded(on: loop) }
        // Why unowned holds: the timer fires on the loop, which owns the pool, and the pool is its only owner.
        self.timer = timer
        guard !timer.isArmed else { return }
        self.leastIdle = self.idle.count
        loop.arm(timer, at: loop.turnTime + Self.period)
    }

    /// Closes a pipe together with the bytes in it.
    func discard(_ pipe: Pipe) {
        self.taken -= 1
        Self.close(pipe)
    }

    private func closeUnneeded(on loop: Loop) {
        for pipe in self.idle.prefix(self.leastIdle) { Self.close(pipe) }
        self.idle.removeFirst(self.leastIdle)
        self.leastIdle = self.idle.count
        // A pipe that is in use comes back, and arms the timer again.
        guard let timer, !self.idle.isEmpty else { return }
        loop.arm(timer, at: loop.turnTime + Self.period)
    }

    private static func make() -> Pipe? {
        var ends: (Int32, Int32) = (-1, -1)
        let room = withUnsafeMutableBytes(of: &ends) {
            pintle_pipe($0.baseAddress?.assumingMemoryBound(to: Int32.self), Int32(Self.capacity))
        }
        guard room >= 0 else { return nil }
        let pipe = Pipe(readEnd: ends.0, writeEnd: DescriptorReserve.admitted(ends.1))
        guard pipe.writeEnd >= 0 else {
            Glibc.close(pipe.readEnd)
            return nil
        }
        guard room >= Self.leastCapacity else {
            Self.close(pipe)
            return nil
        }
        return pipe
    }

    private static func close(_ pipe: Pipe) {
        Glibc.close(pipe.readEnd)
        Glibc.close(pipe.writeEnd)
    }
}
