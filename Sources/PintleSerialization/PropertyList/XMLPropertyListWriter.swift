// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PintleSystem

/// Writes property lists in XML, with tabs, as Apple's tools do. ``PropertyListWriter`` has already checked that every
/// value has a form.
struct XMLPropertyListWriter {
    private static let opening = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """

    private var document = Array(Self.opening.utf8)

    static func write(_ parameter: Parameter) -> [UInt8] {
        var writer = XMLPropertyListWriter()
        writer.add(parameter, depth: 0)
        writer.document += "</plist>\n".utf8
        return writer.document
    }

    private mutating func add(_ parameter: Parameter, depth: Int) {
        switch parameter {
        case .bool(let value): self.line("<\(value)/>", depth)
        case .integer(let value): self.element("integer", "\(value)", depth)
        case .decimal(let text): self.element("integer", text, depth)
        case .number(let value): self.element("real", Self.text(value), depth)
        case .string(let text): self.element("string", text, depth)
        case .data(let bytes): self.element("data", Data(bytes).base64EncodedString(), depth)
        case .date(let seconds): self.element("date", Self.text(date: seconds), depth)
        case .array(let elements):
            guard !elements.isEmpty else { return self.line("<array/>", depth) }
            self.line("<array>", depth)
            for element in elements { self.add(element, depth: depth + 1) }
            self.line("</array>", depth)
        case .dictionary(let entries):
            guard !entries.isEmpty else { return self.line("<dict/>", depth) }
            self.line("<dict>", depth)
            for entry in entries {
                self.element("key", entry.key, depth + 1)
                self.add(entry.value, depth: depth + 1)
            }
            self.line("</dict>", depth)
        case .null, .file, .set: preconditionFailure("BUG: a value without a form in a property list")
        }
    }

    private mutating func line(_ text: String, _ depth: Int) {
        self.document.append(contentsOf: repeatElement(UInt8(ascii: "\t"), count: depth))
        self.document += text.utf8
        self.document.append(UInt8(ascii: "\n"))
    }

    private mutating func element(_ name: String, _ text: String, _ depth: Int) {
        self.document.append(contentsOf: repeatElement(UInt8(ascii: "\t"), count: depth))
        self.document += "<\(name)>".utf8
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): self.document += "&amp;".utf8
            case UInt8(ascii: "<"): self.document += "&lt;".utf8
            case UInt8(ascii: ">"): self.document += "&gt;".utf8
            // Escaped, because a reader would turn a carriage return into a line feed (XML 1.0 §2.11).
            case 0x0D: self.document += "&#13;".utf8
            default: self.document.append(byte)
            }
        }
        self.document += "</\(name)>\n".utf8
    }

    private static func text(_ value: Double) -> String {
        if value.isNaN { return "nan" }
        return value.isInfinite ? (value < 0 ? "-infinity" : "+infinity") : "\(value)"
    }

    private static func text(date seconds: Double) -> String {
        guard let text = ISO8601.text(Int64(seconds.rounded(.down))) else {
            preconditionFailure("BUG: a date outside the years 1 to 9999")
        }
        return text
    }
}
