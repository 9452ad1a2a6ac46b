// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintleSerialization

/// Keeps a copy of a body for the observer, if it is JSON, and for those who look at bodies, and digests it, while the body passes
/// unchanged. Used on the event loop of its exchange.
struct ResponseTap {
    private let observed: ObservedTap?
    private let capture: ExchangeCapture?
    private let digest: DigestTap?

    /// - Parameters:
    ///   - head: the head as the client gets it, but for fields of Pintle's own.
    ///   - wants: those of all sinks.
    /// - Returns: nil if neither a copy nor a digest is wanted.
    init?(
        _ head: ResponseHead, to method: String, _ sinks: ExchangeSinks, for wants: SinkWants,
        _ capture: ExchangeCapture?
    ) {
        if sinks.observer == nil, capture == nil, !wants.contains(.digests) { return nil }
        self.observed = sinks.observer.map { ObservedTap(head, to: method, for: $0) }
        self.capture = capture
        self.digest = wants.contains(.digests) ? DigestTap(head, to: method) : nil
        capture?.begin(response: head)
    }

    /// True while the passing bytes are kept or digested.
    var wantsBody: Bool {
        self.observed?.wantsBody == true || self.capture?.wantsResponse == true || self.digest != nil
    }

    /// Keeps a piece of the body, and digests it; does nothing if the body is not wanted, or could not be kept.
    func take(_ piece: UnsafeRawBufferPointer) {
        self.observed?.take(piece)
        self.capture?.take(response: piece)
        self.digest?.take(piece)
    }

    /// Returns the recorded response for the observer, and hands over the kept bytes.
    func finish() -> ObservedResponse? { self.observed?.finish() }

    /// Ends the digest.
    ///
    /// - Parameter isWhole: true if the body has ended as it should.
    /// - Returns: nil if the response has no body, or no digest is wanted.
    func finishDigest(isWhole: Bool) -> BodyDigest? { self.digest?.finish(isWhole: isWhole) }
}

/// Keeps a copy of a JSON body for an observer.
final class ObservedTap {
    private let budget: MemoryBudget
    private var response: ObservedResponse
    private var bytes: [UInt8] = []
    /// True while the passing bytes are kept.
    private(set) var wantsBody: Bool

    /// - Parameter head: the head as the origin sent it.
    init(_ head: ResponseHead, to method: String, for observer: ExchangeObserver) {
        self.budget = observer.budget
        let types = head.fields.values(of: "Content-Type").map { MediaType.essence(of: $0) }
        let isBodiless = head.forbidsBody(to: method)
        self.response = ObservedResponse(
            contentTypes: types, codings: head.fields.values(of: "Content-Encoding"), isBodiless: isBodiless,
            body: .other)
        self.wantsBody = !isBodiless && types.contains(where: MediaType.isJSON)
    }

    deinit { self.budget.change(by: -self.bytes.count) }

    /// Keeps a piece of the body; does nothing if the body is not wanted, or could not be kept.
    func take(_ piece: UnsafeRawBufferPointer) {
        guard self.wantsBody else { return }
        guard self.bytes.count + piece.count <= ExchangeObserver.longestBody else { return self.giveUp(.tooLong) }
        guard self.budget.take(piece.count, limit: ExchangeObserver.mostKept) else { return self.giveUp(.noRoom) }
        self.bytes.append(contentsOf: piece)
    }

    private func giveUp(_ body: ObservedResponse.Body) {
        self.wantsBody = false
        self.response.body = body
        self.budget.change(by: -self.bytes.count)
        self.bytes = []
    }

    /// Returns the recorded response, and hands over the kept bytes.
    func finish() -> ObservedResponse {
        if self.wantsBody {
            self.response.body = .kept(ObservedBody(self.bytes, drawnFrom: self.budget))
            self.bytes = []
            self.wantsBody = false
        }
        return self.response
    }
}

extension ExchangeReport {
    /// Records a piece of the body, of which the client was sent `count` bytes: all, or none if the response can have no body.
    func note(_ piece: UnsafeRawBufferPointer, sent count: Int) {
        self.bytesOut += count
        if count > 0 { self.tap?.take(piece) }
    }
}
