// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
public import NIOCore
public import PintleMessage
internal import PintleSystem

/// What an operation has brought.
extension TransferOperation {
    /// Waits for the end. Any number of callers may wait; ending the wait does not end the operation.
    ///
    /// - Returns: the latest response, with the whole body where the output is memory. Its metrics are of all requests.
    /// - Throws: ``SessionError``, why the operation failed. A status such as 404 is no failure, unless it comes where a
    ///   good response was to go on after a pause: that is `rejected`, and the output keeps what it has.
    public func value() async throws(SessionError) -> TaskResult {
        await self.finished.wait()
        guard let outcome = self.status.withLockedValue({ $0.outcome }) else {
            preconditionFailure("BUG: an operation's waiter was woken before its end")
        }
        return try outcome.get()
    }

    /// Waits for the end and decodes the response. Where the output is not memory, the body is decoded as if it were
    /// empty.
    ///
    /// - Throws: ``SessionError``, why the operation failed; `rejected` where the serializer refuses the response.
    public func value<Value>(
        decodedBy serializer: some ResponseSerializer<Value>
    ) async throws(SessionError) -> Value {
        try await self.value().decoded(by: serializer, answering: self.request.method)
    }

    /// The body; nil until the operation has ended well, and where the output is not memory.
    public var responseData: ByteBuffer? {
        guard case .memory = self.output, case .success(let result) = self.status.withLockedValue({ $0.outcome }) else {
            return nil
        }
        return result.body
    }

    /// ``responseData`` as text in the encoding that the response names, or in UTF-8 where it names none that is known;
    /// nil where it is no such text.
    public var responseString: String? {
        guard let data = self.responseData, let response = self.response else { return nil }
        return response.fields.textEncoding.decode(Array(data.readableBytesView))
    }
}

/// What comes before an operation.
extension TransferOperation {
    /// Two additions at once could make a cycle of which neither is aware.
    private static let additions = NIOLock()

    /// What has to finish before the operation can be started; empty when that has finished itself.
    public var dependencies: [TransferOperation] { self.status.withLockedValue { $0.dependencies } }

    /// Lets the operation wait until `other` has finished, well or not. It has no effect on one that was started.
    ///
    /// - Throws: ``DependencyCycle`` where `other` waits for this one, itself or through others.
    public func addDependency(_ other: TransferOperation) throws(DependencyCycle) {
        let isCycle = Self.additions.withLock {
            guard !other.waits(for: self) else { return true }
            self.status.withLockedValue { status in
                if status.outcome == nil { status.dependencies.append(other) }
            }
            return false
        }
        guard !isCycle else { throw DependencyCycle(operation: self, dependency: other) }
        other.finished.then { [weak self] in
            guard case .waiting(let ask) = self?.status.withLockedValue({ $0.place }) else { return }
            ask()
        }
    }

    private func waits(for target: TransferOperation) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        var next = [self]
        while let operation = next.popLast() {
            if operation === target { return true }
            if seen.insert(ObjectIdentifier(operation)).inserted { next += operation.dependencies }
        }
        return false
    }
}

/// Operations that would wait for each other for ever.
public struct DependencyCycle: Error, CustomStringConvertible {
    /// What was to wait.
    public let operation: TransferOperation
    /// What it was to wait for, and which waits for it.
    public let dependency: TransferOperation

    /// Which operations, and what to do.
    public var description: String {
        "\(self.operation.name) cannot wait for \(self.dependency.name), which waits for it; leave out one of the two"
    }
}

extension TransferOperation {
    fileprivate var name: String { "\(self.request.method) of \(self.request.url.authority)" }
}
