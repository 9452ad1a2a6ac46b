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

    /// The document for `parameter`.
    ///
    /// A date is written in XML to the whole second, which is all that the format has.
    ///
    /// - Throws: `.unserializable` with the path of the value for null, sets, files, numbers that neither a 64-bit
    ///   integer nor a `Double` holds, dates outside the years 1 to 9999, keys that repeat, nesting beyond
    ///   ``nestingLimit``, and, in XML, text with control characters.
    public static func write(_ parameter: Parameter, format: Format) throws(SerializationError) -> [UInt8] {
        let value: Any
        do throws(Misfit) {
            value = try PropertyListWriter(format: format).value(parameter, depth: 0)
        } catch {
            throw error.error
        }
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

    private func value(_ parameter: Parameter, depth: Int) throws(Misfit) -> Any {
        switch parameter {
        case .null: throw Misfit("null has no form in a property list; leave the entry out.")
        case .bool(let value): return value
        case .integer(let value): return NSNumber(value: value)
        case .number(let value): return NSNumber(value: value)
        case .decimal(let text):
            guard let value = UInt64(text) else { throw Misfit("“\(text)” has no form in a property list.") }
            return NSNumber(value: value)
        case .string(let text):
            try self.check(text)
            return text
        case .data(let bytes): return Data(bytes)
        case .date(let seconds): return try Self.date(seconds)
        case .file: throw Misfit("a file has no form in a property list; only multipart carries files.")
        case .set: throw Misfit("a set has no form in a property list; write an array.")
        case .array(let elements): return try self.array(elements, depth: depth)
        case .dictionary(let entries): return try self.dictionary(entries, depth: depth)
        }
    }

    private func array(_ elements: [Parameter], depth: Int) throws(Misfit) -> [Any] {
        guard depth < Self.nestingLimit else { throw .nesting(beyond: Self.nestingLimit) }
        var result: [Any] = []
        for (index, element) in elements.enumerated() {
            do throws(Misfit) {
                result.append(try self.value(element, depth: depth + 1))
            } catch {
                throw error.inside(.index(index))
            }
        }
        return result
    }

    private func dictionary(_ entries: [Parameter.Entry], depth: Int) throws(Misfit) -> [String: Any] {
        guard depth < Self.nestingLimit else { throw .nesting(beyond: Self.nestingLimit) }
        var result: [String: Any] = [:]
        for entry in entries {
            do throws(Misfit) {
                try self.check(entry.key)
                guard result.updateValue(try self.value(entry.value, depth: depth + 1), forKey: entry.key) == nil else {
                    throw Misfit("a dictionary of a property list has each key once.")
                }
            } catch {
                throw error.inside(.key(entry.key))
            }
        }
        return result
    }

    /// XML has four digits for the year, and Foundation's calendar traps far outside of it.
    private static func date(_ seconds: Double) throws(Misfit) -> Date {
        guard -62_135_596_800..<253_402_300_800 ~= seconds else {
            throw Misfit("a date outside the years 1 to 9999 has no form in a property list.")
        }
        return Date(timeIntervalSince1970: seconds)
    }

    /// Foundation writes such characters into XML as they are, and nobody can read the document.
    private func check(_ text: String) throws(Misfit) {
        guard self.format == .xml, !text.unicodeScalars.allSatisfy(XMLText.isCharacter) else { return }
        throw Misfit("XML has no form for control characters; the binary format has.")
    }
}
