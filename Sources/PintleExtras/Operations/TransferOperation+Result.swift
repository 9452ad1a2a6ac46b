// SPDX-License-Identifier: Apache-2.0

public import NIOCore
internal import PintleMessage
public import PintleSerialization
public import PintleSession
internal import PintleSystem

/// The result of an operation.
extension TransferOperation {
    /// Waits for the end. Any number of callers may wait; cancelling a wait does not cancel the operation.
    ///
    /// - Returns: the latest response, with the whole body if the output is memory. The metrics include all requests.
    /// - Throws: `SessionError`, the reason why the operation failed. A status such as 404 is not a failure, unless
    ///   it comes instead of the rest of a good response after a pause: that is `rejected`, and the output keeps its
    ///   bytes.
    public func value() async throws(SessionError) -> TaskResult {
        await self.finished.wait()
        guard let outcome = self.status.withLock({ $0.outcome }) else {
            preconditionFailure("BUG: an operation's waiter was woken before its end")
        }
        return try outcome.get()
    }

    /// Waits for the end and decodes the response. If the output is not memory, the body is decoded as if it were
    /// empty.
    ///
    /// - Throws: `SessionError`, the reason why the operation failed; `rejected` if the serializer refuses the
    ///   response.
    public func value<Value>(
        decodedBy serializer: some ResponseSerializer<Value>
    ) async throws(SessionError) -> Value {
        try await self.value().decoded(by: serializer, answering: self.request.method)
    }

    /// The body; nil until the operation has succeeded, or if the output is not memory.
    public var responseData: ByteBuffer? {
        guard case .memory = self.output, case .success(let result) = self.status.withLock({ $0.outcome }) else {
            return nil
        }
        return result.body
    }

    /// ``responseData`` as text in the encoding that the response names, or in UTF-8 if it names no known one; nil if
    /// the body is not valid in that encoding.
    public var responseString: String? {
        guard let data = self.responseData, let response = self.response else { return nil }
        return response.fields.textEncoding.decode(Array(data.readableBytesView))
    }
}

/// The dependencies of an operation.
extension TransferOperation {
    /// Two additions at the same time could make a cycle that neither of them sees.
    private static let additions = Locked(())

    /// The operations that must finish before this one can be started; empty after this one has finished.
    public var dependencies: [TransferOperation] { self.status.withLock { $0.dependencies } }

    /// Makes this operation wait until `other` has finished, successfully or not. Has no effect after this one was
    /// started.
    ///
    /// - Throws: ``DependencyCycle`` if `other` waits for this operation, directly or through others.
    public func addDependency(_ other: TransferOperation) throws(DependencyCycle) {
        let isCycle = Self.additions.withLock { _ in
            guard !other.waits(for: self) else { return true }
            self.status.withLock { status in
                if status.outcome == nil { status.dependencies.append(other) }
            }
            return false
        }
        guard !isCycle else { throw DependencyCycle(operation: self, dependency: other) }
        other.finished.then { [weak self] in
            // No queue waits to start it: it is in none, was let start already, or has been released.
            guard case .waiting(let ask) = self?.status.withLock({ $0.place }) else { return }
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

/// The error for operations that would wait for each other for ever.
public struct DependencyCycle: Error, CustomStringConvertible {
    /// The operation that should have waited.
    public let operation: TransferOperation
    /// The operation that it should have waited for, and which itself waits for it.
    public let dependency: TransferOperation

    /// The two operations, and what to do.
    public var description: String {
        "\(self.operation.name) cannot wait for \(self.dependency.name), which waits for it; leave out one of the two"
    }
}

extension TransferOperation {
    fileprivate var name: String { "\(self.request.method) of \(self.request.url.authority)" }
}
