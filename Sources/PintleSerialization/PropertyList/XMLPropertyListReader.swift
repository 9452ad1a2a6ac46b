// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PintleMessage
internal import PintleSystem

/// Reads property lists in XML, as Apple's PropertyList-1.0.dtd defines them.
///
/// Foundation's `PropertyListSerialization` is not used, because it fails on every array in a statically linked program.
/// Containers nest no deeper than ``XMLScanner`` allows for elements.
struct XMLPropertyListReader {
    private var document: XMLCursor

    static func read(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
        let document: XMLCursor
        do throws(XMLSyntaxError) {
            document = try XMLCursor(bytes)
        } catch {
            throw PropertyListError("\(error)")
        }
        var reader = XMLPropertyListReader(document: document)
        return try reader.root()
    }

    /// Reads the one value within `<plist>`. As in Foundation, a document may also be the value alone.
    private mutating func root() throws(PropertyListError) -> PropertyListValue {
        guard let name = try self.element() else { throw Self.foreign }
        guard name == "plist" else { return try self.value(name) }
        guard let member = try self.element() else { throw PropertyListError("the document has no value") }
        let value = try self.value(member)
        guard try self.element() == nil else { throw PropertyListError("the document has more than one value") }
        return value
    }

    /// Reads the value of the open element, up to the element's end.
    private mutating func value(_ name: String) throws(PropertyListError) -> PropertyListValue {
        switch name {
        case "dict": return .dictionary(try self.members())
        case "array":
            var elements: [PropertyListValue] = []
            while let member = try self.element() { elements.append(try self.value(member)) }
            return .array(elements)
        case "string": return .string(try self.text())
        case "integer": return try Self.integer(try self.text())
        case "real": return .real(try Self.real(try self.text()))
        case "date": return .date(try Self.date(try self.text()))
        case "data": return .data(try Self.data(try self.text()))
        case "true", "false":
            guard try self.element() == nil else { throw Self.foreign }
            return .bool(name == "true")
        default: throw Self.foreign
        }
    }

    private mutating func members() throws(PropertyListError) -> [String: PropertyListValue] {
        var members: [String: PropertyListValue] = [:]
        while let name = try self.element() {
            guard name == "key" else { throw PropertyListError("the document has a value without a key") }
            let key = try self.text()
            guard key.isStreamSafe else { throw .unsafeKey }
            guard let member = try self.element() else {
                throw PropertyListError("the document has a key without a value")
            }
            guard members.updateValue(try self.value(member), forKey: key) == nil else {
                throw PropertyListError("the document has a dictionary with a key twice")
            }
        }
        return members
    }

    // MARK: Parts

    private static let foreign = PropertyListError("the document has something that no property list has")

    /// Returns the name of the next element within the open one; nil at the end of the open one.
    private mutating func element() throws(PropertyListError) -> String? {
        while let part = self.document.next() {
            switch part {
            case .start(let name, _): return self.document.text(of: name, as: .literal)
            case .end: return nil
            case .text(let range), .section(let range):
                var text: [UInt8] = []
                self.append(range, of: part, to: &text)
                guard text.allSatisfy(XMLText.isSpace) else { throw Self.foreign }
            case .comment, .instruction, .documentType: continue
            }
        }
        return nil
    }

    /// Reads the text of the open element, up to the element's end.
    private mutating func text() throws(PropertyListError) -> String {
        var text: [UInt8] = []
        while let part = self.document.next() {
            switch part {
            case .start: throw Self.foreign
            case .end: return String(decoding: text, as: UTF8.self)
            case .text(let range), .section(let range): self.append(range, of: part, to: &text)
            case .comment, .instruction, .documentType: continue
            }
        }
        preconditionFailure("BUG: a document that is not well-formed was accepted")
    }

    private func append(_ range: Range<Int>, of part: XMLCursor.Token, to text: inout [UInt8]) {
        if case .text = part {
            self.document.append(range, as: .text, to: &text)
        } else {
            self.document.append(range, as: .literal, to: &text)
        }
    }

    // MARK: Texts

    /// Reads a number: decimal, or hexadecimal after `0x`, with or without a sign.
    private static func integer(_ text: String) throws(PropertyListError) -> PropertyListValue {
        var digits = self.trimmed(text)
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        let isHexadecimal = digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8)
        if isHexadecimal { digits = digits.dropFirst(2) }
        // Otherwise `UInt64.init` would accept a second sign.
        guard let first = digits.first, ASCII.hexValue(first) != nil,
            let magnitude = UInt64(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10)
        else { throw PropertyListError("the document has an integer that is none, or needs more than 64 bits") }
        if !isNegative { return Int64(exactly: magnitude).map { .integer($0) } ?? .unsigned(magnitude) }
        guard magnitude <= Int64.min.magnitude else {
            throw PropertyListError("the document has an integer that is none, or needs more than 64 bits")
        }
        return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
    }

    private static func real(_ text: String) throws(PropertyListError) -> Double {
        let number = String(decoding: self.trimmed(text), as: UTF8.self)
        // Swift reads hexadecimal numbers, too, but property lists have none.
        guard !number.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }), let value = Double(number) else {
            throw PropertyListError("the document has a real that is no number")
        }
        return value
    }

    /// Reads a date such as `2001-01-01T00:00:00Z`, in whole seconds.
    private static func date(_ text: String) throws(PropertyListError) -> Double {
        let text = self.trimmed(text)
        guard text.count == 20, text.dropFirst(10).first == UInt8(ascii: "T"), text.last == UInt8(ascii: "Z"),
            let seconds = ISO8601.seconds(text)
        else { throw PropertyListError("the document has a date that is not like 2001-01-31T00:00:00Z") }
        return Double(seconds)
    }

    private static func data(_ text: String) throws(PropertyListError) -> [UInt8] {
        let digits = text.utf8.filter { !XMLText.isSpace($0) }
        guard let data = Data(base64Encoded: Data(digits)) else {
            throw PropertyListError("the document has data that is not base64")
        }
        return Array(data)
    }

    private static func trimmed(_ text: String) -> ArraySlice<UInt8> {
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(where: { !XMLText.isSpace($0) }),
            let last = bytes.lastIndex(where: { !XMLText.isSpace($0) })
        else { return [] }
        return bytes[first...last]
    }
}
