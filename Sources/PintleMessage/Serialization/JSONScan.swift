// SPDX-License-Identifier: Apache-2.0

/// One pass over a document: checks syntax and UTF-8 together, without recursion and without allocation.
///
/// It holds a pointer, so it lives only inside the `withUnsafe…` call of ``JSONScanner`` that makes it.
struct JSONScan {
    /// What was expected where scanning stopped.
    enum Failure: Error {
        case value, container, valueOrClose, keyOrClose, key, colon, commaOrBracket, commaOrBrace, end
        case digit, literal, stringByte, escape, hexDigit, lowSurrogate, utf8, encoding, nesting
    }

    /// What may come next.
    private enum State {
        case value, firstElement, firstKey, key, afterValue
    }

    let base: UnsafePointer<UInt8>
    let end: Int
    private let fragmentsAllowed: Bool
    /// Where scanning stands; after a failure, the offending byte.
    var index: Int
    /// One byte for each level that may be open: 1 for an object, 0 for an array.
    private let levels: UnsafeMutableBufferPointer<UInt8>

    init(
        _ bytes: UnsafeBufferPointer<UInt8>, base: UnsafePointer<UInt8>, from start: Int,
        levels: UnsafeMutableBufferPointer<UInt8>, fragmentsAllowed: Bool
    ) {
        self.base = base
        self.end = bytes.count
        self.index = start
        self.levels = levels
        self.fragmentsAllowed = fragmentsAllowed
    }

    /// Scans a whole document.
    ///
    /// - Returns: what was missing at ``index``, or nil for a document in order.
    mutating func document() -> Failure? {
        var state = State.value
        var depth = 0
        while true {
            self.skipWhiteSpace()
            guard self.index < self.end else { return self.failureAtEnd(state, depth: depth) }
            let byte = self.base[self.index]
            switch state {
            case .afterValue:
                guard depth > 0 else { return .end }
                let isObject = self.levels[depth - 1] == 1
                if byte == UInt8(ascii: ",") {
                    state = isObject ? .key : .value
                } else if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    depth -= 1
                } else {
                    return isObject ? .commaOrBrace : .commaOrBracket
                }
                self.index += 1
            case .firstKey, .key:
                if byte == UInt8(ascii: "}"), state == .firstKey {
                    self.index += 1
                    depth -= 1
                    state = .afterValue
                    continue
                }
                guard byte == UInt8(ascii: "\"") else { return state == .firstKey ? .keyOrClose : .key }
                if let failure = self.string() { return failure }
                self.skipWhiteSpace()
                guard self.index < self.end, self.base[self.index] == UInt8(ascii: ":") else { return .colon }
                self.index += 1
                state = .value
            case .firstElement where byte == UInt8(ascii: "]"):
                self.index += 1
                depth -= 1
                state = .afterValue
            case .firstElement, .value:
                switch byte {
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    guard depth < self.levels.count else { return .nesting }
                    let isObject = byte == UInt8(ascii: "{")
                    self.levels[depth] = isObject ? 1 : 0
                    depth += 1
                    self.index += 1
                    state = isObject ? .firstKey : .firstElement
                default:
                    guard depth > 0 || self.fragmentsAllowed else { return .container }
                    if let failure = self.scalar(byte) {
                        return failure == .value && state == .firstElement ? .valueOrClose : failure
                    }
                    state = .afterValue
                }
            }
        }
    }

    /// Scans a number and nothing else.
    mutating func isNumber() -> Bool {
        guard self.index < self.end else { return false }
        let first = self.base[self.index]
        return (ASCII.isDigit(first) || first == UInt8(ascii: "-")) && self.number() == nil && self.index == self.end
    }

    /// Whether a number or literal ends before `byte`.
    @inline(__always)
    static func endsWord(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }

    private func failureAtEnd(_ state: State, depth: Int) -> Failure? {
        switch state {
        case .value: return depth > 0 || self.fragmentsAllowed ? .value : .container
        case .firstElement: return .valueOrClose
        case .firstKey: return .keyOrClose
        case .key: return .key
        case .afterValue:
            if depth == 0 { return nil }
            return self.levels[depth - 1] == 1 ? .commaOrBrace : .commaOrBracket
        }
    }

    @inline(__always)
    private mutating func skipWhiteSpace() {
        while self.index < self.end {
            let byte = self.base[self.index]
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            self.index += 1
        }
    }

    // MARK: Scalars

    @inline(__always)
    private mutating func scalar(_ byte: UInt8) -> Failure? {
        switch byte {
        case UInt8(ascii: "\""): self.string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): self.number()
        case UInt8(ascii: "t"): self.literal("true")
        case UInt8(ascii: "f"): self.literal("false")
        case UInt8(ascii: "n"): self.literal("null")
        default: .value
        }
    }

    @inline(__always)
    private mutating func literal(_ word: StaticString) -> Failure? {
        let count = word.utf8CodeUnitCount
        guard self.end - self.index >= count else { return .literal }
        for offset in 1..<count where self.base[self.index + offset] != word.utf8Start[offset] { return .literal }
        self.index += count
        return nil
    }

    private mutating func number() -> Failure? {
        if self.base[self.index] == UInt8(ascii: "-") { self.index += 1 }
        guard self.index < self.end else { return .digit }
        if self.base[self.index] == UInt8(ascii: "0") {
            self.index += 1
        } else if !self.digits() {
            return .digit
        }
        if self.index < self.end, self.base[self.index] == UInt8(ascii: ".") {
            self.index += 1
            guard self.digits() else { return .digit }
        }
        if self.index < self.end, self.base[self.index] | 0x20 == UInt8(ascii: "e") {
            self.index += 1
            if self.index < self.end {
                let sign = self.base[self.index]
                if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { self.index += 1 }
            }
            guard self.digits() else { return .digit }
        }
        return nil
    }

    @inline(__always)
    private mutating func digits() -> Bool {
        let start = self.index
        while self.index < self.end, ASCII.isDigit(self.base[self.index]) { self.index += 1 }
        return self.index > start
    }
}
