// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintleSerialization

/// Keeps a copy of a body for the observer, if it is JSON, and for those who look at bodies, while the body passes unchanged. Used on
/// the event loop of its exchange.
struct ResponseTap {
    private let observed: ObservedTap?
    private let capture: ExchangeCapture?

    /// - Parameter head: the head as the client gets it, but for fields of Pintle's own.
    /// - Returns: nil if no copy is wanted.
    init?(_ head: ResponseHead, to method: String, _ observer: ExchangeObserver?, _ capture: ExchangeCapture?) {
        if observer == nil, capture == nil { return nil }
        self.observed = observer.map { ObservedTap(head, to: method, for: $0) }
        self.capture = capture
        capture?.begin(response: head)
    }

    /// True while the passing bytes are kept.
    var wantsBody: Bool { self.observed?.wantsBody == true || self.capture?.wantsResponse == true }

    /// Keeps a piece of the body; does nothing if the body is not wanted, or could not be kept.
    func take(_ piece: UnsafeRawBufferPointer) {
        self.observed?.take(piece)
        self.capture?.take(response: piece)
    }

    /// Returns the recorded response for the observer, and hands over the kept bytes.
    func finish() -> ObservedResponse? { self.observed?.finish() }
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
