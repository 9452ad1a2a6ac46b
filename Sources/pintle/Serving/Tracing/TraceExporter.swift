// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleSystem
internal import PintleWatch

/// Tells a receiver the spans of exchanges, in batches.
///
/// An exchange is put into a mailbox at its end. One thread takes it, makes its spans and has them posted, one batch after another.
/// If the receiver is slow or away, the mailbox fills up, and further exchanges are lost and counted: the proxy neither waits nor
/// takes more memory.
final class TraceExporter: ExchangeSink {
    /// The most exchanges and bytes that wait.
    private static let (mostExchanges, mostBytes) = (4096, 8 << 20)
    /// The time between two looks into the mailbox while a batch is gathered: to be woken by each exchange would cost more.
    private static let interval = Duration.milliseconds(100)
    /// The time that the end of the process waits for the receiver.
    private static let patience = Duration.seconds(1)

    private let mailbox: BoundedMailbox<ObservedExchange>
    private let delivery: SpanDelivery
    private let document: OTLPDocument
    private let redaction: Redaction
    private let losses: LostSpans
    /// Readable as soon as the end is near.
    private let stopRequest: NonBlockingPipe
    private let end = Latch()

    /// Starts the thread.
    init(_ tracing: TracingConfiguration, redaction: Redaction, logger: Logger) throws(CommandFailure) {
        let losses = LostSpans(logger: logger)
        self.delivery = try SpanDelivery(to: tracing.receiver, version: Version.number, losses: losses)
        (self.losses, self.redaction) = (losses, redaction)
        self.document = OTLPDocument(version: Version.number, host: Self.hostName, process: Int(getpid()))
        do throws(SystemError) {
            self.mailbox = try BoundedMailbox(elements: Self.mostExchanges, bytes: Self.mostBytes)
            self.stopRequest = try NonBlockingPipe()
            try SystemThread.start { self.run() }
        } catch {
            throw CommandFailure(.incomplete, "tracing: \(error)")
        }
    }

    deinit {
        close(self.stopRequest.readingEnd)
        close(self.stopRequest.writingEnd)
    }

    private static var hostName: String? {
        // HOST_NAME_MAX is 64 on Linux (gethostname(2)); a longer name would not end with a zero.
        var text = [CChar](repeating: 0, count: 65)
        guard gethostname(&text, 64) == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: Exchanges

    var wants: SinkWants { .records }

    func take(_ exchange: ObservedExchange) {
        if exchange.trace?.isSampled == true { self.mailbox.put(exchange, bytes: exchange.size) }
    }

    /// Delivers what waits, for a second at most.
    func stop() async {
        var one: UInt8 = 1
        _ = write(self.stopRequest.writingEnd, &one, 1)
        await self.end.wait()
        await self.delivery.stop()
        self.losses.finish()
    }

    // MARK: The thread

    private func run() {
        var batch = SpanBatch()
        var deadline: ContinuousClock.Instant?
        while !self.isStopping(within: batch.timeLeft(at: .now)) {
            self.takeMail(into: &batch)
            while let spans = batch.take(at: .now, isLast: false) { self.post(spans, before: &deadline) }
        }
        self.takeMail(into: &batch)
        let end = deadline ?? .now + Self.patience
        deadline = end
        while end > .now, let spans = batch.take(at: .now, isLast: true) { self.post(spans, before: &deadline) }
        if !batch.spans.isEmpty {
            self.losses.note("the receiver has not taken all spans before the end", spans: batch.spans.count)
        }
        self.end.happen()
    }

    /// Waits until there may be work to do.
    ///
    /// - Parameter timeLeft: the time until the gathered spans are due; nil if there are none.
    /// - Returns: true if the end is near.
    private func isStopping(within timeLeft: Duration?) -> Bool {
        guard let timeLeft else {
            // Nothing is gathered, so the first exchange wakes the thread.
            return self.poll([self.stopRequest.readingEnd, self.mailbox.descriptor], nil).first == true
        }
        return self.poll([self.stopRequest.readingEnd], min(timeLeft, Self.interval)).first == true
    }

    private func takeMail(into batch: inout SpanBatch) {
        let (exchanges, lost) = self.mailbox.take()
        if lost > 0 { self.losses.note("exchanges end faster than the receiver takes their spans", exchanges: lost) }
        for exchange in exchanges {
            guard let trace = exchange.trace else { continue }
            let spans = ExchangeSpans(
                exchange.record, trace, isComplete: exchange.isComplete, redaction: self.redaction)
            batch.add(spans.spans, at: .now)
        }
    }

    /// Posts spans, and waits until they are delivered or lost.
    ///
    /// - Parameter deadline: nil for as long as it takes; set once the end is near.
    private func post(_ spans: [TraceSpan], before deadline: inout ContinuousClock.Instant?) {
        let posted: NonBlockingPipe
        do throws(SystemError) { posted = try NonBlockingPipe() } catch {
            return self.losses.note("there is no pipe: \(error)", spans: spans.count)
        }
        defer { close(posted.readingEnd) }
        let bytes = self.document.bytes(of: spans)
        let task = Task { [delivery] in
            await delivery.post(bytes, spans: spans.count)
            // The end of the pipe wakes its reader.
            close(posted.writingEnd)
        }
        if deadline == nil {
            if self.poll([posted.readingEnd, self.stopRequest.readingEnd], nil).first == true { return }
            deadline = .now + Self.patience
        }
        if self.poll([posted.readingEnd], deadline.map { ContinuousClock.now.duration(to: $0) }).first == true {
            return
        }
        task.cancel()
        // A task that is cancelled ends soon, and counts its spans before.
        _ = self.poll([posted.readingEnd], nil)
    }

    /// Waits until one of the descriptors can be read, or for a time.
    ///
    /// - Returns: for each descriptor, true if it can be read.
    private func poll(_ descriptors: [Int32], _ limit: Duration?) -> [Bool] {
        let deadline = limit.map { ContinuousClock.now + $0 }
        while true {
            var places = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let left = deadline.map { ContinuousClock.now.duration(to: $0).roundedMilliseconds + 1 }
            let count = Glibc.poll(&places, nfds_t(places.count), left.map { Int32(clamping: max(0, $0)) } ?? -1)
            if count > 0 { return places.map { $0.revents != 0 } }
            if let deadline, deadline <= .now { return places.map { _ in false } }
        }
    }
}
