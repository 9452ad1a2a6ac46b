// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Writes property lists.
public struct PropertyListWriter {
    /// The formats that are written.
    public enum Format: Sendable, Hashable {
        /// XML 1.0 with Apple's document type, in UTF-8.
        case xml
        /// The binary format, version 00.
        case binary
    }

    /// The most levels of containers that are written.
    public static let nestingLimit = 512

    private let format: Format
    private var path = ParameterPath()

    /// The document for `parameter`.
    ///
    /// - Throws: `.unserializable` with the path of the value for null, sets, numbers that neither a 64-bit integer nor a
    ///   `Double` holds, keys that repeat, nesting beyond ``nestingLimit``, and, in XML, text with control characters.
    public static func write(_ parameter: Parameter, format: Format) throws(SerializationError) -> [UInt8] {
        var writer = PropertyListWriter(format: format)
        let value = try writer.value(parameter)
        do {
            return Array(
                try PropertyListSerialization.data(
                    fromPropertyList: value, format: format == .xml ? .xml : .binary, options: 0))
        } catch {
            throw SerializationError(
                .unserializable, "this cannot be written as a property list.", path: "parameters", cause: "\(error)")
        }
    }

    private init(format: Format) { self.format = format }

    private mutating func value(_ parameter: Parameter) throws(SerializationError) -> Any {
        switch parameter {
        case .null: throw self.error("null has no form in a property list; leave the entry out.")
        case .bool(let value): return value
        case .integer(let value): return NSNumber(value: value)
        case .number(let value): return NSNumber(value: value)
        case .decimal(let text):
            guard let value = UInt64(text) else { throw self.error("“\(text)” has no form in a property list.") }
            return NSNumber(value: value)
        case .string(let text):
            try self.check(text)
            return text
        case .data(let bytes): return Data(bytes)
        case .set: throw self.error("a set has no form in a property list; write an array.")
        case .array(let elements): return try self.array(elements)
        case .dictionary(let entries): return try self.dictionary(entries)
        }
    }

    private mutating func array(_ elements: [Parameter]) throws(SerializationError) -> [Any] {
        var result: [Any] = []
        for (index, element) in elements.enumerated() {
            try self.enter(.index(index))
            result.append(try self.value(element))
            self.path.leave()
        }
        return result
    }

    private mutating func dictionary(_ entries: [Parameter.Entry]) throws(SerializationError) -> [String: Any] {
        var result: [String: Any] = [:]
        for entry in entries {
            try self.enter(.key(entry.key))
            try self.check(entry.key)
            guard result.updateValue(try self.value(entry.value), forKey: entry.key) == nil else {
                throw self.error("a dictionary of a property list has each key once.")
            }
            self.path.leave()
        }
        return result
    }

    private mutating func enter(_ step: ParameterPath.Step) throws(SerializationError) {
        guard self.path.steps.count < Self.nestingLimit else {
            throw self.error("more than \(Self.nestingLimit) levels of nesting.")
        }
        self.path.enter(step)
    }

    /// Foundation writes such characters into XML as they are, and nobody can read the document.
    private func check(_ text: String) throws(SerializationError) {
        guard self.format == .xml, !text.unicodeScalars.allSatisfy(XMLText.isCharacter) else { return }
        throw self.error("XML has no form for control characters; the binary format has.")
    }

    private func error(_ message: String) -> SerializationError {
        SerializationError(.unserializable, message, path: self.path.text)
    }
}
