// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleMessage

/// XML: one verdict, and one error with its place, for a document whole and in pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzXML(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let document = fuzzedBytes(data, count)
    let scanner = XMLScanner(nestingLimit: count & 1 == 0 ? 512 : 4)
    let whole = outcome { () throws(XMLSyntaxError) in try scanner.validate(document) }
    let inPieces = outcome { () throws(XMLSyntaxError) in
        var validator = XMLValidator(scanner)
        for piece in document.pieces { try validator.take(piece) }
        try validator.finish()
    }
    hold(inPieces.failure == whole.failure, "pieces have the verdict of the whole: \(inPieces), not \(whole)")
    return 0
}
