// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleSystem

/// The loop of `pintle top` at a terminal.
struct TopWatch {
    private enum Key {
        static let interrupt: UInt8 = 3
        static let suspend: UInt8 = 26
    }

    /// The signals that are caught.
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGWINCH]
    /// The time between two samples.
    private static let interval = Duration.seconds(1)
    /// The most lines of exchanges that are kept for a screen.
    private static let mostLines = 200

    private let proxy: RunningProxy
    private let tail: ControlConnection
    private let screen: TopScreen
    private let signals: SignalPipe
    private var latest: TopTable.Sample
    private var previous: TopTable.Sample?
    /// The last exchanges, the latest first.
    private var exchanges: [String] = []

    init(_ proxy: RunningProxy, filter: String, on screen: TopScreen) throws(CommandFailure) {
        let request = ControlRequest(command: .tail, tail: ControlRequest.Tail(filter: filter, format: .json))
        (self.proxy, self.screen) = (proxy, screen)
        self.tail = try proxy.open(request).rest
        self.latest = try Top.sample(of: proxy)
        do throws(SystemError) {
            self.signals = try SignalPipe(Self.signals)
        } catch {
            throw CommandFailure(.incomplete, "pintle top: there is no pipe for signals: \(error)")
        }
    }

    /// Shows the proxy until the reader or a signal ends it, or the proxy ends.
    mutating func run() throws(CommandFailure) {
        var next = ContinuousClock.now + Self.interval
        while true {
            try self.draw()
            let others = [STDIN_FILENO, self.signals.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            switch self.tail.wait(for: others, limit: ContinuousClock.now.duration(to: next)) {
            case .peer:
                guard let message = self.tail.receive(TailMessage.self) else { throw Self.ended }
                self.note(message)
            case .other: if try self.isAskedToEnd() { return }
            case .timeUp:
                next = .now + Self.interval
                (self.previous, self.latest) = (self.latest, try Top.sample(of: self.proxy))
            }
        }
    }

    private static var ended: CommandFailure { CommandFailure(.incomplete, "pintle top: the proxy has ended") }

    private mutating func note(_ message: TailMessage) {
        let lost = message.lost > 0 ? ["\(message.lost) exchanges are not shown: they came too fast"] : []
        let rows = message.lines.reversed().map { TopRow($0)?.text ?? $0 }
        self.exchanges = Array((rows + lost + self.exchanges).prefix(Self.mostLines))
    }

    /// Handles signals and keys.
    private mutating func isAskedToEnd() throws(CommandFailure) -> Bool {
        // SIGWINCH only brings about the next drawing.
        if self.signals.take().contains(where: { $0.number != SIGWINCH }) { return true }
        var place = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&place, 1, 0) > 0 else { return false }
        var keys = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &keys, keys.count)
        // The terminal has gone.
        guard count > 0 else { return true }
        for key in keys.prefix(count) {
            if key == UInt8(ascii: "q") || key == Key.interrupt { return true }
            if key == Key.suspend {
                self.screen.giveBack()
                raise(SIGSTOP)
                try self.screen.take()
            }
        }
        return false
    }

    private func draw() throws(CommandFailure) {
        let table = TopTable(latest: self.latest, previous: self.previous)
        let exchanges = self.exchanges
        try self.screen.draw { rows, columns in
            let lines = table.lines(within: columns) + [""]
            return lines + exchanges.prefix(max(0, rows - lines.count))
        }
    }
}
