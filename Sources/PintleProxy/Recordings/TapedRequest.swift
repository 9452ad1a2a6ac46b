// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

extension Worker {
    /// Opens the stream of a request to its recording, or to its origin.
    func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate,
        _ simulation: PlannedSimulation
    ) -> any OriginStream {
        guard let tape = simulation.tape else { return self.connect(consume request, in: session, for: delegate) }
        let (loop, origins, active) = (self.loop, self.origins, self.active)
        let connect: RouteTape.Connect = { request, delegate in
            Self.open(request, in: session, for: delegate, on: loop, origins, active)
        }
        let taped = TapedRequest(consume request, judge: simulation.judge)
        let memory = RecordingMemory(of: self.memory, limit: self.active.limits.heldBytes)
        switch tape.rules.mode {
        case .replay: return RecordedOrigin(taped, from: tape, for: delegate, on: loop, in: memory, connect)
        case .record, .compare:
            return RecordingOrigin(taped, on: tape, for: delegate, on: loop, in: memory, connect)
        }
    }
}

/// A request that is looked for in a tape, or recorded.
struct TapedRequest {
    var transfer: TransferRequest
    /// The rules for the response; nil if there are none.
    let judge: ResponseValidator?

    init(_ transfer: consuming TransferRequest, judge: ResponseValidator?) {
        (self.transfer, self.judge) = (transfer, judge)
    }

    /// The URL, with http for `ws`.
    var url: String {
        let authority = self.transfer.authority.description(for: self.transfer.scheme)
        let path = self.transfer.path.hasPrefix("/") ? self.transfer.path : "/" + self.transfer.path
        return "\(self.transfer.scheme.rawValue)://\(authority)\(path)"
    }
}
