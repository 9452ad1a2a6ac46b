// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleMessage
internal import PintleSystem

/// Watches a command's processes for connections past its proxy with a tracepoint of the kernel, which misses none.
final class ConnectWatch: @unchecked Sendable {
    // Why @unchecked holds: `log` and `watch` belong to the watching thread until it has ended, and then to the thread that
    // has waited for its end; `isOver` is only accessed inside `changed.locked`.
    private let watch: OpaquePointer
    private var log: ConnectLog
    private let changed = Condition()
    private var isOver = false
    /// A pipe; a byte in it ends the watch.
    private let ends: (reading: Int32, writing: Int32)

    private static let capacity = 4096

    /// - Parameter root: a child that has not started its program yet.
    /// - Returns: nil if the system does not let this user watch, or cannot create a thread.
    init?(root: pid_t, proxy: SocketTable.Endpoint) {
        guard let watch = pintle_watch_connects(root) else { return nil }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            pintle_end_watch(watch)
            return nil
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (self.watch, self.log, self.ends) = (watch, ConnectLog(proxy: proxy), (ends[0], ends[1]))
        do throws(SystemError) {
            try SystemThread.start { [self] in self.run() }
        } catch {
            return nil
        }
    }

    deinit {
        pintle_end_watch(self.watch)
        close(self.ends.reading)
        close(self.ends.writing)
    }

    /// Ends the watch, and returns the connections found.
    func end() -> PastConnections {
        var byte: UInt8 = 1
        while write(self.ends.writing, &byte, 1) < 0, errno == EINTR {}
        self.changed.locked { while !self.isOver { self.changed.wait() } }
        let result = self.log.result
        let isWhole = self.log.isWhole && pintle_misses_processors(self.watch) == 0
        return PastConnections(found: result.found, more: result.more, sight: isWhole ? .all : .lossy)
    }

    private func run() {
        pintle_name_this_thread("pintle-watch")
        var space = [pintle_sighting](repeating: pintle_sighting(), count: Self.capacity)
        var end = pollfd(fd: self.ends.reading, events: Int16(POLLIN), revents: 0)
        var hasEnded = false
        while !hasEnded {
            pintle_await_sightings(self.watch, self.ends.reading)
            // Checked before the last events are taken: later ones do not belong to the command.
            hasEnded = poll(&end, 1, 0) > 0
            self.take(&space)
        }
        self.changed.locked {
            self.isOver = true
            self.changed.broadcast()
        }
    }

    private func take(_ space: inout [pintle_sighting]) {
        while true {
            let count = pintle_take_sightings(self.watch, &space, space.count)
            self.log.add(space.prefix(count).compactMap(Sighting.init))
            if count < space.count { return }
        }
    }
}

extension Sighting {
    fileprivate init?(_ raw: pintle_sighting) {
        let kind: Kind
        switch pintle_sighting_kind(raw.kind) {
        case PINTLE_SIGHTED_CONNECT, PINTLE_SIGHTED_LISTEN:
            let bytes = withUnsafeBytes(of: raw.address) { Array($0.prefix(Int(raw.address_size))) }
            guard let address = IPAddress(bytes: bytes) else { return nil }
            let place = SocketTable.Endpoint(address: address, port: raw.port)
            kind = raw.kind == PINTLE_SIGHTED_CONNECT.rawValue ? .connect(place) : .listen(place)
        case PINTLE_SIGHTED_NAME:
            kind = .name(withUnsafeBytes(of: raw.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        case PINTLE_SIGHTED_FORK: kind = .fork(parent: raw.parent)
        case PINTLE_SIGHTED_EXIT: kind = .exit
        case PINTLE_SIGHTED_LOSS: kind = .loss
        default: return nil
        }
        self.init(time: raw.time, process: raw.process, kind: kind)
    }
}
