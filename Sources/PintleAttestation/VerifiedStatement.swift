// SPDX-License-Identifier: Apache-2.0

package import PintleSerialization
internal import PintleSystem
package import PintleTrust

/// The statement of a signed report that holds: the key has signed it, and its sums follow from its exchanges.
package struct VerifiedStatement: Sendable {
    /// The statement without its exchanges.
    package let document: Parameter
    /// The number of exchanges.
    package let count: Int
    private let envelope: SignedEnvelope

    /// Verifies a signed report. It takes as much memory as the file is long, and that of one exchange and of the first line.
    ///
    /// - Parameters:
    ///   - file: ``SignedEnvelope/room`` bytes without meaning, and behind them those of the file.
    ///   - key: the key that must have signed it.
    /// - Throws: the first thing that does not hold.
    package init(file: consuming [UInt8], by key: VerifyingKey) throws(AttestationError) {
        self.envelope = try SignedEnvelope(file: consume file, by: key)
        (self.document, self.count) = try self.envelope.withStatement { bytes throws(AttestationError) in
            var reader = StatementReader(bytes)
            return (try reader.read(), reader.count)
        }
    }

    /// The member `predicate`.
    package var predicate: Parameter { self.document["predicate"] ?? .null }

    /// Calls `body` with each line of the statement as it was signed, without its line end.
    package func forEachLine<Failure>(_ body: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
        try self.envelope.withStatement { bytes throws(Failure) in
            var rest = bytes[...]
            while !rest.isEmpty {
                let line = rest.prefix { $0 != UInt8(ascii: "\n") }
                try body(Array(line))
                rest = rest.dropFirst(line.count + 1)
            }
        }
    }
}

/// Reads a statement line by line, and adds its exchanges up.
///
/// It holds a pointer, so it exists only inside the `withUnsafe…` call that makes it.
private struct StatementReader {
    private var rest: Slice<UnsafeRawBufferPointer>
    private var chain = ExchangeChain()
    private var claims = RunClaims()

    init(_ bytes: UnsafeRawBufferPointer) { self.rest = bytes[...] }

    var count: Int { self.chain.count }

    mutating func read() throws(AttestationError) -> Parameter {
        let statement = try self.head()
        var isLast = false
        while !self.rest.elementsEqual(StatementLines.closing) {
            let line = try self.line(atMost: StatedExchange.longest + 256)
            guard !isLast else { throw AttestationError("exchange \(self.count) has no comma behind it") }
            isLast = line.last != UInt8(ascii: ",")
            try self.take(isLast ? line : line.dropLast())
        }
        guard isLast || self.count == 0 else { throw AttestationError("a comma follows the last exchange") }
        try self.compare(statement)
        return statement
    }

    /// Takes the next line.
    private mutating func line(atMost most: Int) throws(AttestationError) -> ArraySlice<UInt8> {
        guard !self.rest.isEmpty else { throw AttestationError("the statement ends early") }
        let line = self.rest.prefix { $0 != UInt8(ascii: "\n") }
        guard line.count <= most else {
            throw AttestationError("a line of the statement has \(line.count) bytes; at most \(most) are read")
        }
        self.rest = self.rest.dropFirst(line.count + 1)
        return Array(line)[...]
    }

    private mutating func head() throws(AttestationError) -> Parameter {
        let line = try self.line(atMost: StatementLines.longestHead)
        guard line.suffix(StatementLines.opening.count) == StatementLines.opening[...] else {
            throw AttestationError("the statement is not one about a run of Pintle")
        }
        let statement: Parameter
        do throws(JSONSyntaxError) {
            let document = line.dropLast(StatementLines.opening.count) + "}}".utf8
            statement = try JSONScanner(nestingLimit: StatementLines.nesting).parse(Array(document))
        } catch {
            throw AttestationError("the statement is not JSON: \(error)")
        }
        guard statement.text("_type") == StatementLines.type else {
            throw AttestationError("its _type is not \(StatementLines.type)")
        }
        guard statement.text("predicateType") == StatementLines.predicateType else {
            throw AttestationError(
                "its predicateType is not \(StatementLines.predicateType); another version of Pintle may have written it"
            )
        }
        return statement
    }

    private mutating func take(_ line: ArraySlice<UInt8>) throws(AttestationError) {
        let number = self.count + 1
        let (before, behind) = (
            StatementLines.beforeLeaf, StatementLines.beforeHash.count + 64 + StatementLines.afterHash.count
        )
        guard line.count > before.count + behind, line.starts(with: before) else {
            throw AttestationError("exchange \(number) is not as Pintle writes it")
        }
        let leaf = Array(line.dropFirst(before.count).dropLast(behind))
        do throws(AttestationError) {
            self.claims.add(try StatedExchange(leaf))
        } catch {
            throw AttestationError("exchange \(number): \(error)")
        }
        self.chain.append(leaf)
        guard line.elementsEqual(StatementLines.line(leaf, self.chain.hash)) else {
            throw AttestationError("the hash of exchange \(number) does not follow from it and from those before")
        }
    }

    /// Compares the sums with those that follow from the exchanges.
    private func compare(_ statement: Parameter) throws(AttestationError) {
        guard statement["subject"] == self.claims.subject(self.chain) else {
            throw AttestationError("its subject does not follow from its exchanges")
        }
        let predicate = statement["predicate"] ?? .null
        let places = predicate.elements("rules").reduce(into: [String: String]()) { places, rule in
            if let name = rule.text("rule") { places[name] = rule.text("place") }
        }
        for (name, value) in self.claims.members(places) + self.chain.members where predicate[name] != value {
            throw AttestationError("its \(name) does not follow from its exchanges")
        }
    }
}
