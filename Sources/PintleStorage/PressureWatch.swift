// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import PintleSystem

/// The thread that waits until the kernel reports memory pressure, with its descriptors.
final class PressureWatch: Sendable {
    /// The kernel notifies if some task has waited for memory for 200 ms within 2 s, and at most once in these 2 s. The
    /// window is the shortest that it permits to processes without privileges (Documentation/accounting/psi.rst).
    static let trigger = "some 200000 2000000"

    private struct Files: Sendable {
        /// Descriptors of PSI, which signal a stall as urgent data.
        var stalls: [Int32] = []
        /// Files of control groups by their inotify number, with the sum of their counters when they were last read.
        var limits: [Int32: (path: String, count: UInt64)] = [:]
    }

    private let files = Locked(Files())
    private let changes: Int32
    private let wakeup: Int32
    private let isStopped = Locked(false)
    private let whenRising: @Sendable () -> Void

    init(_ whenRising: @escaping @Sendable () -> Void) throws(SystemError) {
        let changes = pintle_file_watch()
        guard changes >= 0 else { throw .last }
        let wakeup = pintle_eventfd()
        guard wakeup >= 0 else {
            let error = SystemError.last
            close(changes)
            throw error
        }
        (self.changes, self.wakeup, self.whenRising) = (changes, wakeup, whenRising)
    }

    deinit {
        close(self.changes)
        close(self.wakeup)
        for descriptor in self.files.withLock({ $0.stalls }) { close(descriptor) }
    }

    func add(_ source: MemoryPressure.Source) throws(SystemError) {
        switch source.kind {
        case .stalls: self.add(try Self.openTrigger(source.path))
        case .limits:
            let number = pintle_file_watch_writes(self.changes, source.path)
            guard number >= 0 else { throw .last }
            let count = ControlGroup.limitEvents(FileBytes.text(source.path))
            self.files.withLock { $0.limits[number] = (source.path, count) }
        }
    }

    /// Watches a descriptor of PSI; the watch will close it.
    func add(_ descriptor: Int32) { self.files.withLock { $0.stalls.append(descriptor) } }

    /// Requests notifications of stalls, which the kernel sends to the descriptor as long as it is open.
    private static func openTrigger(_ path: String) throws(SystemError) -> Int32 {
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        // The terminating zero is written too, as in the kernel's own example.
        let text = Array(Self.trigger.utf8) + [0]
        guard write(descriptor, text, text.count) == text.count else {
            let error = SystemError.last
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Starts the thread, which retains the watch until it is stopped.
    func start() throws(SystemError) {
        try SystemThread.start {
            pintle_name_thread("memory-pressure")
            while self.wait() {}
        }
    }

    func stop() {
        self.isStopped.withLock { $0 = true }
        pintle_wake(self.wakeup)
    }

    /// Waits until a descriptor is ready, and handles all that are.
    ///
    /// - Returns: false if the watch was stopped.
    private func wait() -> Bool {
        let stalls = self.files.withLock { $0.stalls }
        var queries = [self.wakeup, self.changes].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        queries += stalls.map { pollfd(fd: $0, events: Int16(POLLPRI), revents: 0) }
        let count = poll(&queries, nfds_t(queries.count), -1)
        guard !self.isStopped.withLock({ $0 }) else { return false }
        guard count >= 0 else { return errno == EINTR }
        var isRising = false
        if queries[1].revents != 0 { isRising = self.readChanges() }
        for query in queries.dropFirst(2) where query.revents != 0 {
            if query.revents & Int16(POLLPRI) != 0 { isRising = true }
            // The control group and its file are gone; without this, poll would return at once again and again.
            if query.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { self.drop(query.fd) }
        }
        if isRising { self.whenRising() }
        return true
    }

    private func drop(_ descriptor: Int32) {
        self.files.withLock { $0.stalls.removeAll { $0 == descriptor } }
        close(descriptor)
    }

    /// Drops the events of inotify, which only say that the counters must be read. Returns true if one of them rose.
    private func readChanges() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { space in
            while read(self.changes, space.baseAddress, space.count) > 0 {}
        }
        var isRising = false
        for (number, file) in self.files.withLock({ $0.limits }) {
            let count = ControlGroup.limitEvents(FileBytes.text(file.path))
            if count > file.count { isRising = true }
            if count != file.count { self.files.withLock { $0.limits[number] = (file.path, count) } }
        }
        return isRising
    }
}
