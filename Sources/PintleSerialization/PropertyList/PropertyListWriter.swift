// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSystem

/// Writes property lists.
public struct PropertyListWriter {
    /// The formats of property lists.
    public enum Format: Sendable, Hashable {
        /// XML 1.0 with Apple's document type, in UTF-8.
        case xml
        /// The binary format, version 00.
        case binary
    }

    /// The maximum number of levels of containers.
    public static let nestingLimit = 512

    private let format: Format

    /// Returns the document for `parameter`. Dictionaries keep their order.
    ///
    /// XML has dates in whole seconds only, so fractions are dropped there.
    ///
    /// - Throws: `.unserializable` with the path of the value for null, sets, files, numbers that neither a 64-bit integer
    ///   nor a `Double` holds, dates outside the years 1 to 9999, keys that repeat or have over 30 combining marks in a
    ///   row, and, in XML, text with control characters; also for nesting beyond ``nestingLimit``.
    public static func write(_ parameter: Parameter, format: Format) throws(SerializationError) -> [UInt8] {
        do throws(Mismatch) {
            try PropertyListWriter(format: format).check(parameter, depth: 0)
        } catch {
            throw error.error
        }
        switch format {
        case .xml: return XMLPropertyListWriter.write(parameter)
        case .binary: return BinaryPropertyListWriter.write(parameter)
        }
    }

    private init(format: Format) { self.format = format }

    /// - Throws: ``Mismatch`` if a value has no form.
    private func check(_ parameter: Parameter, depth: Int) throws(Mismatch) {
        switch parameter {
        case .null: throw Mismatch("null has no form in a property list; leave the entry out.")
        case .bool, .integer, .number, .data: break
        case .decimal(let text):
            guard UInt64(text) != nil else { throw Mismatch("“\(text.cutName)” has no form in a property list.") }
        case .string(let text): try self.check(text)
        case .date(let seconds): try Self.check(date: seconds)
        case .file: throw Mismatch("a file has no form in a property list; only multipart carries files.")
        case .set: throw Mismatch("a set has no form in a property list; write an array.")
        case .array(let elements): try self.check(elements, depth: depth)
        case .dictionary(let entries): try self.check(entries, depth: depth)
        }
    }

    private func check(_ elements: [Parameter], depth: Int) throws(Mismatch) {
        guard depth < Self.nestingLimit else { throw .nesting(beyond: Self.nestingLimit) }
        for (index, element) in elements.enumerated() {
            do throws(Mismatch) {
                try self.check(element, depth: depth + 1)
            } catch {
                throw error.inside(.index(index))
            }
        }
    }

    private func check(_ entries: [Parameter.Entry], depth: Int) throws(Mismatch) {
        guard depth < Self.nestingLimit else { throw .nesting(beyond: Self.nestingLimit) }
        var keys: Set<String> = []
        for entry in entries {
            do throws(Mismatch) {
                guard entry.key.isStreamSafe else {
                    throw Mismatch("a key of a property list has at most 30 combining marks in a row.")
                }
                try self.check(entry.key)
                try self.check(entry.value, depth: depth + 1)
                guard keys.insert(entry.key).inserted else {
                    throw Mismatch("a dictionary of a property list has each key once.")
                }
            } catch {
                throw error.inside(.key(entry.key))
            }
        }
    }

    /// Refuses years that do not have four digits, as XML requires.
    private static func check(date seconds: Double) throws(Mismatch) {
        guard -62_135_596_800..<253_402_300_800 ~= seconds else {
            throw Mismatch("a date outside the years 1 to 9999 has no form in a property list.")
        }
    }

    private func check(_ text: String) throws(Mismatch) {
        guard self.format == .xml, !text.unicodeScalars.allSatisfy(XMLText.isCharacter) else { return }
        throw Mismatch("XML has no form for control characters; the binary format has.")
    }
}
