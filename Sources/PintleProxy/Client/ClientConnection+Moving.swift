// SPDX-License-Identifier: Apache-2.0

internal import PintleLoop

/// Moves a long body from the client's socket to the origin's, if it need not be inspected.
extension ClientConnection: PipeReader {
    func moveBytes(from descriptor: Int32) -> StreamOutcome? {
        guard (self.requests.missingBytes ?? 0) >= PipedBytes.leastBody,
            let (exchange, missing) = self.requests.startMoving()
        else { return nil }
        let filling = exchange.moveBody(from: descriptor, atMost: min(missing, PipedBytes.mostAtOnce))
        guard case .outcome(.bytes(let count)) = filling else {
            _ = self.requests.endMoving(0)
            return switch filling {
            case .isUnfit, .lacksPipe: nil
            case .mustWait: .wouldBlock(until: [])
            case .outcome(let outcome): outcome
            }
        }
        let isComplete = self.requests.endMoving(count)
        self.expectNext()
        if isComplete { self.process() }
        return .bytes(count)
    }
}
