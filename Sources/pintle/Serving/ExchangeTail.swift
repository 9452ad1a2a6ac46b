// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleActivity
internal import PintleAdmin
internal import PintlePolicy
internal import PintleProxy
internal import PintleSystem

/// Sends the exchanges that end from now on to a command: `pintle tail`.
struct ExchangeTail {
    let feed: ExchangeFeed
    let log: LogConfiguration

    /// The bytes of lines after which a message is sent.
    private static let enough = 64 << 10

    /// Follows until the peer goes. Filtering and writing take this thread's time, and not that of an event loop.
    func follow(_ tail: ControlRequest.Tail, to peer: ControlConnection) {
        let (filter, follower): (ExchangeFilter, BoundedMailbox<ObservedExchange>)
        do throws(FilterError) {
            filter = try ExchangeFilter(tail.filter)
        } catch {
            _ = peer.send(ControlAnswer(code: ProcessExit.usage.rawValue, lines: error.lines(in: tail.filter)))
            return
        }
        do throws(SystemError) {
            follower = try self.feed.follow()
        } catch {
            _ = peer.send(
                ControlAnswer(code: ProcessExit.incomplete.rawValue, lines: ["the proxy has no pipe: \(error)"]))
            return
        }
        defer { self.feed.end(follower) }
        guard peer.send(ControlAnswer(code: ProcessExit.success.rawValue)) else { return }
        // A pager may rest on one page for hours.
        peer.setPatience(nil)
        let redaction: Redaction = self.log.redact ? .on : .off
        let format: LogFormat = (tail.format?.rawValue ?? self.log.format.rawValue) == "json" ? .json : .text
        // A shown exchange has no secrets left.
        let encoder =
            tail.style.map { ExchangeEncoder(for: $0, redaction: .off) }
            ?? ExchangeEncoder(format: format, redaction: .off)
        while case .other = peer.wait(for: [pollfd(fd: follower.descriptor, events: Int16(POLLIN), revents: 0)]) {
            let (exchanges, lost) = follower.take()
            var message = TailMessage(lines: [], lost: lost)
            var size = 0
            for exchange in exchanges {
                let shown = exchange.shown(redaction)
                guard filter.matches(shown) else { continue }
                var line: [UInt8] = []
                encoder.encode(shown.record, into: &line)
                message.lines.append(String(decoding: line.dropLast(), as: UTF8.self))
                size += line.count
                guard size >= Self.enough else { continue }
                guard peer.send(message) else { return }
                (message, size) = (TailMessage(lines: [], lost: 0), 0)
            }
            if !message.lines.isEmpty || message.lost > 0, !peer.send(message) { return }
        }
    }
}
