// SPDX-License-Identifier: Apache-2.0

/// Writes JSON objects (RFC 8259) straight into bytes, without values in between.
struct JSONMembers {
    private(set) var bytes: [UInt8] = []
    /// True if the next member of the innermost object follows another one.
    private var follows = false

    init(reserving count: Int) { self.bytes.reserveCapacity(count) }

    // MARK: Members

    mutating func member(_ key: StaticString, _ text: String) {
        self.key(key)
        self.quote(text)
    }

    mutating func member(_ key: StaticString, _ number: Int) {
        self.key(key)
        self.decimal(number)
    }

    mutating func member(_ key: StaticString, _ value: Bool) {
        self.key(key)
        self.append(value ? "true" : "false")
    }

    /// - Parameter digits: the number of digits of `number` behind the point, at least 1.
    mutating func member(_ key: StaticString, _ number: Int64, scaledBy digits: Int) {
        self.key(key)
        self.fraction(number, digits)
    }

    /// - Parameter object: a JSON text.
    mutating func member(_ key: StaticString, json object: [UInt8]) {
        self.key(key)
        self.bytes += object
    }

    mutating func object(_ key: StaticString, _ members: (inout JSONMembers) -> Void) {
        self.key(key)
        self.object(members)
    }

    /// An object that is no member.
    mutating func object(_ members: (inout JSONMembers) -> Void) {
        self.bytes.append(UInt8(ascii: "{"))
        self.follows = false
        members(&self)
        self.bytes.append(UInt8(ascii: "}"))
        self.follows = true
    }

    /// A member whose text is made of pieces, with line feeds between them.
    mutating func member(named name: String, lines: some Sequence<String>) {
        self.separate()
        self.quote(name)
        self.append(":\"")
        var isFirst = true
        for line in lines {
            if !isFirst { self.append("\\n") }
            isFirst = false
            self.escape(line)
        }
        self.bytes.append(UInt8(ascii: "\""))
    }

    // MARK: Pieces

    private mutating func separate() {
        if self.follows { self.bytes.append(UInt8(ascii: ",")) }
        self.follows = true
    }

    /// - Parameter key: without characters that have to be escaped.
    private mutating func key(_ key: StaticString) {
        self.separate()
        self.bytes.append(UInt8(ascii: "\""))
        self.append(key)
        self.append("\":")
    }

    private mutating func append(_ text: StaticString) {
        self.bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func decimal(_ number: Int) {
        if number < 0 { self.bytes.append(UInt8(ascii: "-")) }
        let start = self.bytes.count
        var rest = number.magnitude
        repeat {
            self.bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        self.bytes[start...].reverse()
    }

    /// Writes a number with at least one digit behind the point, and no zeros at its end.
    private mutating func fraction(_ number: Int64, _ digits: Int) {
        var scale: UInt64 = 1
        for _ in 0..<digits { scale *= 10 }
        if number < 0 { self.bytes.append(UInt8(ascii: "-")) }
        let (whole, rest) = number.magnitude.quotientAndRemainder(dividingBy: scale)
        self.decimal(Int(clamping: whole))
        self.bytes.append(UInt8(ascii: "."))
        var (left, place) = (rest, scale / 10)
        repeat {
            self.bytes.append(UInt8(ascii: "0") + UInt8(left / place))
            left %= place
            place /= 10
        } while left > 0
    }

    private mutating func quote(_ text: String) {
        self.bytes.append(UInt8(ascii: "\""))
        self.escape(text)
        self.bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            var clean = 0
            for index in utf8.indices {
                let byte = utf8[index]
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                self.bytes.append(contentsOf: utf8[clean..<index])
                self.escape(byte)
                clean = index + 1
            }
            self.bytes.append(contentsOf: utf8[clean...])
        }
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\n"): self.append("\\n")
        case UInt8(ascii: "\r"): self.append("\\r")
        case UInt8(ascii: "\t"): self.append("\\t")
        case UInt8(ascii: "\""): self.append("\\\"")
        case UInt8(ascii: "\\"): self.append("\\\\")
        default:
            self.append(byte < 0x10 ? "\\u000" : "\\u001")
            let digit = byte & 0xF
            self.bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
