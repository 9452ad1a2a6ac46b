// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleSerialization

/// Fuzzes property lists: values read from one, or from JSON, are written in both formats and read back the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPropertyList(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let document = fuzzedBytes(data, count)
    let value: Parameter
    if document.first == UInt8(ascii: "{") || document.first == UInt8(ascii: "[") {
        guard let parsed = try? JSONScanner().parse(document) else { return 0 }
        value = parsed
    } else {
        guard let read = try? PropertyListReader.read(document) else { return 0 }
        value = Parameter(read)
    }
    for format: PropertyListWriter.Format in [.xml, .binary] {
        guard let bytes = try? PropertyListWriter.write(value, format: format) else { continue }
        let again = outcome { () throws(PropertyListError) in Parameter(try PropertyListReader.read(bytes)) }
        guard let same = try? again.get() else { fatalError("\(format) of \(value) cannot be read: \(again)") }
        hold(same.text(format) == value.text(format), "\(value) reads back the same from \(format), not as \(same)")
    }
    return 0
}

extension Parameter {
    /// The text of a value, without the differences that property lists allow: they have no order of keys, NaN is not equal
    /// to itself, XML has whole seconds only, and a number may change its kind.
    fileprivate func text(_ format: PropertyListWriter.Format) -> String {
        switch self {
        case .date(let seconds): return format == .xml ? "date \(seconds.rounded(.down))" : "date \(seconds)"
        case .integer(let value): return "number \(value)"
        case .decimal(let text): return "number \(text)"
        case .number(let value): return value.isNaN ? "number nan" : "number \(value == 0 ? 0 : value)"
        case .string(let text): return "text \(Array(text.utf8))"
        case .array(let elements): return "[\(elements.map { $0.text(format) }.joined(separator: ", "))]"
        case .dictionary(let entries):
            let members = entries.map { "\(Array($0.key.utf8)): \($0.value.text(format))" }
            return "{\(members.sorted().joined(separator: ", "))}"
        default: return "\(self)"
        }
    }
}
