// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// One pass over a document, or over the next piece of it: checks syntax and UTF-8 together, without recursion.
///
/// A short token that makes sense only as a whole (a literal, an escape, a character beyond ASCII) is left to the next
/// piece if this one cuts it. Strings, numbers and white space are scanned as far as they go, however long they are.
///
/// It holds a pointer, so it exists only inside the `withUnsafe…` call that makes it; ``State`` outlives it.
struct JSONScan {
    /// The reason why scanning stopped.
    enum Failure: Error {
        /// The item that was expected at ``index``.
        case value, container, valueOrClose, keyOrClose, key, colon, commaOrBracket, commaOrBrace, end
        case digit, literal, stringByte, escape, hexDigit, lowSurrogate, utf8, encoding, nesting
        /// No error: the piece ends there, but the document does not.
        case unfinished
    }

    /// The item that may come next.
    enum Place: Equatable {
        case value, firstElement, firstKey, key, colon, afterValue
        /// Within the quotes.
        case keyText, valueText
        case number(NumberPart)
    }

    /// The state between two pieces.
    struct State {
        var place = Place.value
        var depth = 0
        /// One bit for each of the innermost 64 open levels, the lowest bit for the innermost one: 1 for an object.
        var kinds: UInt64 = 0
        /// The bits of the levels outside those, 64 in each.
        var outerKinds: [UInt64] = []
        let fragmentsAllowed: Bool
        /// The maximum number of levels.
        let nestingLimit: Int

        init(_ scanner: JSONScanner) {
            self.fragmentsAllowed = scanner.fragmentsAllowed
            self.nestingLimit = scanner.nestingLimit
        }
    }

    let bytes: UnsafeBufferPointer<UInt8>
    let end: Int
    /// True if the document ends with these bytes.
    let isLast: Bool
    /// The index of the next byte to scan; after a failure, of the offending byte.
    var index = 0
    var state: State

    init(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, _ state: State) {
        self.bytes = bytes
        self.end = bytes.count
        self.isLast = isLast
        self.state = state
    }

    /// Scans to the end of the bytes.
    ///
    /// - Returns: the item that is missing at ``index``; `.unfinished` if the next piece continues there; nil if the
    ///   document is valid and this was its last piece.
    mutating func run() -> Failure? {
        if let failure = self.resume() { return failure }
        while true {
            self.skipWhiteSpace()
            guard self.index < self.end else { return self.isLast ? self.failureAtEnd() : .unfinished }
            let byte = self.bytes[self.index]
            switch self.state.place {
            case .afterValue:
                if let failure = self.separator(byte) { return failure }
            case .firstKey, .key:
                if byte == UInt8(ascii: "}"), self.state.place == .firstKey {
                    self.close()
                    continue
                }
                guard byte == UInt8(ascii: "\"") else { return self.state.place == .firstKey ? .keyOrClose : .key }
                self.index += 1
                self.state.place = .keyText
                if let failure = self.text() { return failure }
                self.state.place = .colon
            case .colon:
                guard byte == UInt8(ascii: ":") else { return .colon }
                self.index += 1
                self.state.place = .value
            case .firstElement where byte == UInt8(ascii: "]"):
                self.close()
            case .firstElement, .value:
                if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                    guard self.open(isObject: byte == UInt8(ascii: "{")) else { return .nesting }
                } else {
                    guard self.state.depth > 0 || self.state.fragmentsAllowed else { return .container }
                    if let failure = self.scalar(byte) { return failure }
                    self.state.place = .afterValue
                }
            case .keyText, .valueText, .number: preconditionFailure("BUG: a token was left open")
            }
        }
    }

    /// True if the bytes are one number and nothing else.
    mutating func isNumber() -> Bool {
        guard self.index < self.end else { return false }
        let first = self.bytes[self.index]
        return (ASCII.isDigit(first) || first == UInt8(ascii: "-")) && self.number() == nil && self.index == self.end
    }

    /// True if a number or literal ends before `byte`.
    @inline(__always)
    static func endsWord(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }

    /// Continues the string or number in which the last piece ended.
    private mutating func resume() -> Failure? {
        let failure: Failure?
        let next: Place
        switch self.state.place {
        case .keyText: (failure, next) = (self.text(), .colon)
        case .valueText: (failure, next) = (self.text(), .afterValue)
        case .number(let part): (failure, next) = (self.number(from: part), .afterValue)
        case .value, .firstElement, .firstKey, .key, .colon, .afterValue: return nil
        }
        if failure == nil { self.state.place = next }
        return failure
    }

    private func failureAtEnd() -> Failure? {
        switch self.state.place {
        case .value: return self.state.depth > 0 || self.state.fragmentsAllowed ? .value : .container
        case .firstElement: return .valueOrClose
        case .firstKey: return .keyOrClose
        case .key: return .key
        case .colon: return .colon
        case .afterValue:
            if self.state.depth == 0 { return nil }
            return self.state.kinds & 1 == 1 ? .commaOrBrace : .commaOrBracket
        case .keyText, .valueText, .number: preconditionFailure("BUG: a token was left open")
        }
    }

    @inline(__always)
    private mutating func skipWhiteSpace() {
        while self.index < self.end {
            let byte = self.bytes[self.index]
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            self.index += 1
        }
    }

    // MARK: Levels

    /// - Returns: false if the maximum number of levels is reached.
    @inline(__always)
    private mutating func open(isObject: Bool) -> Bool {
        guard self.state.depth < self.state.nestingLimit else { return false }
        if self.state.depth & 63 == 0, self.state.depth > 0 { self.state.outerKinds.append(self.state.kinds) }
        self.state.kinds = self.state.kinds << 1 | (isObject ? 1 : 0)
        self.state.depth += 1
        self.state.place = isObject ? .firstKey : .firstElement
        self.index += 1
        return true
    }

    @inline(__always)
    private mutating func close() {
        self.state.depth -= 1
        self.state.kinds >>= 1
        if self.state.depth & 63 == 0, let outer = self.state.outerKinds.popLast() { self.state.kinds = outer }
        self.state.place = .afterValue
        self.index += 1
    }

    @inline(__always)
    private mutating func separator(_ byte: UInt8) -> Failure? {
        guard self.state.depth > 0 else { return .end }
        let isObject = self.state.kinds & 1 == 1
        if byte == UInt8(ascii: ",") {
            self.state.place = isObject ? .key : .value
            self.index += 1
        } else if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            self.close()
        } else {
            return isObject ? .commaOrBrace : .commaOrBracket
        }
        return nil
    }

    // MARK: Scalars

    @inline(__always)
    private mutating func scalar(_ byte: UInt8) -> Failure? {
        switch byte {
        case UInt8(ascii: "\""):
            self.index += 1
            // Set first: the string may continue in the next piece.
            self.state.place = .valueText
            return self.text()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return self.number()
        case UInt8(ascii: "t"): return self.literal("true")
        case UInt8(ascii: "f"): return self.literal("false")
        case UInt8(ascii: "n"): return self.literal("null")
        default: return self.state.place == .firstElement ? .valueOrClose : .value
        }
    }

    @inline(__always)
    private mutating func literal(_ word: StaticString) -> Failure? {
        let count = word.utf8CodeUnitCount
        guard self.end - self.index >= count else { return self.isLast ? .literal : .unfinished }
        for offset in 1..<count where self.bytes[self.index + offset] != word.utf8Start[offset] { return .literal }
        self.index += count
        return nil
    }
}
