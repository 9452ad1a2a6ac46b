// SPDX-License-Identifier: Apache-2.0

public import PintleSession

extension HTTPSession {
    /// Makes an operation, to be started or added to a queue. `TransferOperation.value(decodedBy:)` decodes its
    /// response.
    ///
    /// - Throws: `SessionError` with `invalidURL`, or `invalidRequest`, with the error of the serializer or encoder
    ///   as `underlying`.
    public func operation(
        _ method: String, _ url: String, body: RequestBody? = nil, to output: TransferOperation.Output = .memory,
        completion: TransferOperation.Completion? = nil, _ shape: Shaping = { _ in }
    ) throws(SessionError) -> TransferOperation {
        let written = try self.written(method, url, body, shape)
        return TransferOperation(
            written.request, in: self.session, from: written.source, to: output, interception: self.interception,
            completion: completion)
    }
}
