// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Reads property lists, in the XML and the binary format.
///
/// The textual format of NeXTSTEP is not read: nearly any text is a document of it.
public enum PropertyListReader {
    /// The value of a whole document.
    ///
    /// - Throws: why `bytes` are no property list that can be read. A binary document with many times more values
    ///   than bytes is none, nor is one with sets, nor an XML document that ``XMLScanner`` refuses.
    public static func read(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
        if BinaryPropertyListReader.isBinary(bytes) { return try BinaryPropertyListReader.read(bytes) }
        do throws(XMLSyntaxError) {
            try XMLScanner().validate(bytes)
        } catch {
            throw PropertyListError("\(error)")
        }
        var format = PropertyListSerialization.PropertyListFormat.openStep
        guard
            let value = try? PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: &format),
            format == .xml
        else { throw PropertyListError("the document has something that no property list has") }
        return try Self.value(value)
    }

    private static func value(_ value: Any) throws(PropertyListError) -> PropertyListValue {
        switch value {
        case let text as String: return .string(text)
        case let data as Data: return .data(Array(data))
        case let date as Date: return .date(date.timeIntervalSince1970)
        case let elements as [Any]:
            var result: [PropertyListValue] = []
            for element in elements { result.append(try Self.value(element)) }
            return .array(result)
        case let members as [String: Any]:
            var result: [String: PropertyListValue] = [:]
            for (key, member) in members { result[key] = try Self.value(member) }
            return .dictionary(result)
        // Foundation takes a number for a truth value where it can, so only the type tells.
        case let truth where type(of: truth) == Bool.self: return .bool(truth as? Bool ?? false)
        case let number as NSNumber: return Self.number(number)
        default: throw PropertyListError("the document has a value that is neither text, number, date nor container")
        }
    }

    private static func number(_ number: NSNumber) -> PropertyListValue {
        let type = UInt8(bitPattern: number.objCType.pointee)
        if type == UInt8(ascii: "d") || type == UInt8(ascii: "f") { return .real(number.doubleValue) }
        return Int64(exactly: number).map { .integer($0) } ?? .unsigned(number.uint64Value)
    }
}

/// Why bytes are no property list.
public struct PropertyListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}
