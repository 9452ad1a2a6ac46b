// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintlePins
internal import PintlePolicy

/// Fuzzes pins in every file format; the pins read from one are written in the other formats and read back.
///
/// The first byte chooses the format.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPinFile(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let selector = bytes.first else { return 0 }
    let format = PinFormat.allCases[Int(selector) % PinFormat.allCases.count]
    let read = outcome { () throws(PinFormatError) in
        try format.read(Array(bytes.dropFirst()), file: "pins", surroundings)
    }
    switch read {
    case .failure(let error): hold(!"\(error)".isEmpty, "a refusal has a reason")
    case .success(let content):
        hold(!content.sets.isEmpty, "what was read has a pin")
        // A configuration names the file of a certificate, which does not exist.
        for other in PinFormat.allCases where other != .cer && !(format == .cer && other == .pintle) {
            guard let text = try? other.write(content.sets) else { continue }
            let again = outcome { () throws(PinFormatError) in
                try other.read(Array(text.text.utf8), file: "pins", surroundings)
            }
            if case .failure(let error) = again { fatalError("\(other) does not read what it wrote: \(error)") }
        }
    }
    return 0
}

/// No files and no environment.
private let surroundings = LoaderEnvironment(
    environment: [:],
    read: { (_, _) throws(LoaderEnvironment.ReadingError) in throw .notFound },
    exists: { _ in false })
