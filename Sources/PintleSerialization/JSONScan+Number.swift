// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension JSONScan {
    /// The part of a number (RFC 8259 §6) that was read last, in the order of the grammar.
    enum NumberPart {
        case nothing
        /// A digit must follow.
        case minus
        case zero, digits
        /// A digit must follow.
        case point
        case fraction
        /// A sign or a digit must follow.
        case exponent
        /// A digit must follow.
        case exponentSign
        case exponentDigits

        var mayEnd: Bool {
            switch self {
            case .zero, .digits, .fraction, .exponentDigits: true
            case .nothing, .minus, .point, .exponent, .exponentSign: false
            }
        }
    }

    /// Scans a number from its first byte, a digit or a minus.
    @inline(__always)
    mutating func number() -> Failure? { self.number(after: .nothing) }

    /// Scans the rest of a number.
    mutating func number(from part: NumberPart) -> Failure? { self.number(after: part) }

    @inline(__always)
    private mutating func number(after part: NumberPart) -> Failure? {
        var part = part
        if part == .nothing {
            if self.bytes[self.index] == UInt8(ascii: "-") { self.index += 1 }
            part = .minus
        }
        if part == .minus {
            guard self.index < self.end else { return self.pause(after: part) }
            let first = self.bytes[self.index]
            guard ASCII.isDigit(first) else { return .digit }
            self.index += 1
            part = first == UInt8(ascii: "0") ? .zero : .digits
        }
        if part == .zero || part == .digits {
            if part == .digits { self.skipDigits() }
            guard self.index < self.end else { return self.pause(after: part) }
            if self.bytes[self.index] == UInt8(ascii: ".") {
                self.index += 1
                part = .point
            }
        }
        if part == .point {
            guard self.index < self.end else { return self.pause(after: part) }
            guard ASCII.isDigit(self.bytes[self.index]) else { return .digit }
            part = .fraction
        }
        if part == .fraction {
            self.skipDigits()
            guard self.index < self.end else { return self.pause(after: part) }
        }
        return self.exponent(after: part)
    }

    @inline(__always)
    private mutating func exponent(after part: NumberPart) -> Failure? {
        var part = part
        if part.mayEnd, part != .exponentDigits {
            guard self.bytes[self.index] | 0x20 == UInt8(ascii: "e") else { return nil }
            self.index += 1
            part = .exponent
        }
        if part == .exponent {
            guard self.index < self.end else { return self.pause(after: part) }
            let sign = self.bytes[self.index]
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { self.index += 1 }
            part = .exponentSign
        }
        if part == .exponentSign {
            guard self.index < self.end else { return self.pause(after: part) }
            guard ASCII.isDigit(self.bytes[self.index]) else { return .digit }
        }
        self.skipDigits()
        return self.index < self.end ? nil : self.pause(after: .exponentDigits)
    }

    /// Handles the end of the bytes within a number, or after it.
    private mutating func pause(after part: NumberPart) -> Failure? {
        if self.isLast { return part.mayEnd ? nil : .digit }
        self.state.place = .number(part)
        return .unfinished
    }

    @inline(__always)
    private mutating func skipDigits() {
        while self.index < self.end, ASCII.isDigit(self.bytes[self.index]) { self.index += 1 }
    }
}
