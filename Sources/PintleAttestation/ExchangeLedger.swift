// SPDX-License-Identifier: Apache-2.0

package import PintleSerialization
internal import PintleSystem
package import PintleTrust

/// The exchanges of a statement that is being made. They are in a file, and only their sums in memory.
package struct ExchangeLedger: Sendable {
    private let path: String
    private let lines: SpoolFile
    private var chain = ExchangeChain()
    private var claims = RunClaims()
    /// The number of exchanges that are missing, because they or the file were too long.
    package private(set) var missing = 0
    /// The reason why the file is of no use.
    private var failure: SystemError?

    /// - Parameter path: the signed report; the exchanges are kept beside it.
    /// - Throws: an error if no file can be made there.
    package init(for path: String) throws(AttestationError) {
        self.path = path
        do throws(SystemError) {
            self.lines = try SpoolFile(besides: path, room: SignedEnvelope.room + StatementLines.longestHead)
        } catch {
            throw AttestationError("no file can be made beside it: \(error)")
        }
    }

    /// The rules that have decided.
    package var rules: [String] { self.claims.ruleNames }

    /// Adds an exchange by the bytes of ``StatedExchange/leaf(log:keys:body:)``.
    package mutating func append(_ leaf: [UInt8]) {
        // The report cannot be written any more.
        guard self.failure == nil else { return }
        let isFull = self.lines.count + leaf.count > SignedEnvelope.longestPayload - StatementLines.longestHead
        guard !isFull, leaf.count <= StatedExchange.longest, let exchange = try? StatedExchange(leaf) else {
            self.missing += 1
            return
        }
        let isFirst = self.chain.count == 0
        self.chain.append(leaf)
        self.claims.add(exchange)
        do throws(SystemError) {
            try self.lines.append(Array((isFirst ? "\n" : ",\n").utf8) + StatementLines.line(leaf, self.chain.hash))
        } catch {
            self.failure = error
        }
    }

    /// Writes the signed report.
    ///
    /// - Parameters:
    ///   - members: the members of the predicate that do not follow from the exchanges.
    ///   - places: the places of rules in the files of the configuration.
    ///   - missed: the number of exchanges that came too fast for the ledger.
    package func write(
        _ members: [(String, Parameter?)], places: [String: String], missed: Int, by key: SigningKey
    ) throws(AttestationError) {
        if let failure { throw AttestationError("its exchanges could not be kept beside it: \(failure)") }
        let missing = self.missing + missed
        let left: Parameter? = missing == 0 ? nil : .integer(Int64(missing))
        let head = try self.head(
            members + [("exchanges_missing", left)] + self.claims.members(places) + self.chain.members)
        let written: Result<Void, AttestationError>
        do throws(SystemError) {
            try self.lines.append(Array("\n".utf8) + StatementLines.closing)
            let front = SignedEnvelope.authenticatedHead(ofPayload: head.count + self.lines.count)
            written = try self.lines.withBytes(behind: front + head) { message throws(AttestationError) in
                try self.write(message, from: front.count, by: key)
            }
        } catch {
            throw AttestationError("its exchanges could not be kept beside it: \(error)")
        }
        try written.get()
    }

    /// Returns the first line of the statement.
    private func head(_ predicate: [(String, Parameter?)]) throws(AttestationError) -> [UInt8] {
        let statement = Parameter.object([
            ("_type", .string(StatementLines.type)), ("subject", self.claims.subject(self.chain)),
            ("predicateType", .string(StatementLines.predicateType)), ("predicate", .object(predicate)),
        ])
        guard let bytes = try? JSONWriter.write(statement) else {
            preconditionFailure("BUG: a statement has values that JSON cannot express")
        }
        guard bytes.count <= StatementLines.longestHead - 2 * StatementLines.opening.count else {
            throw AttestationError("it would be too long without its exchanges already: \(bytes.count) bytes")
        }
        // The two brackets stand at the end of the last line.
        return bytes.dropLast(2) + StatementLines.opening
    }

    /// - Parameters:
    ///   - message: the bytes that are signed.
    ///   - start: the place in them where the payload begins.
    private func write(
        _ message: UnsafeRawBufferPointer, from start: Int, by key: SigningKey
    ) throws(AttestationError) {
        let signature: [UInt8]
        do throws(TrustError) { signature = try key.signature(of: message) } catch {
            throw AttestationError("\(error)")
        }
        let payload = UnsafeRawBufferPointer(rebasing: message[start...])
        do throws(SystemError) {
            try FileWriting.replace(self.path) { descriptor throws(SystemError) in
                try SignedEnvelope.write(payload, signature, by: key.publicKey) { text throws(SystemError) in
                    try FileWriting.writeAll(text, to: descriptor)
                }
            }
        } catch {
            throw AttestationError("\(error)")
        }
    }
}
