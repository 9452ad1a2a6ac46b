// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintleTrust

/// Reading DER strictly.
struct DERReaderTests {
    @Test(
        arguments: [
            ([0x30, 0x00], true), ([0x04, 0x01, 0x61], true),
            ([0x04, 0x81, 0x80] + [UInt8](repeating: 0, count: 128), true),
            // No length, too little content, a longer length than needed, a length of no end, a length of lengths too long.
            ([0x30], false), ([0x04, 0x02, 0x61], false), ([0x04, 0x81, 0x01, 0x61], false),
            ([0x30, 0x80, 0, 0], false),
            ([0x04, 0x82, 0x00, 0x80] + [UInt8](repeating: 0, count: 128), false),
            ([0x04, 0x85, 1, 1, 1, 1, 1], false),
            // A tag of two bytes.
            ([0x1F, 0x21, 0x00], false), ([], false),
        ] as [([UInt8], Bool)])
    func `lengths are definite and shortest, tags are single bytes`(bytes: [UInt8], isElement: Bool) {
        var reader = DERReader(bytes)
        #expect(((try? reader.next()) != nil) == isElement)
    }

    @Test func `every prefix of an element is refused, and every byte behind it noticed`() throws {
        let whole: [UInt8] = [0x30, 0x06, 0x02, 0x01, 0x05, 0x01, 0x01, 0xFF]
        for count in 0..<whole.count {
            #expect(throws: DERError.self) { try DERReader.only(DERTag.sequence, in: whole[..<count]) }
        }
        #expect(throws: DERError.self) { try DERReader.only(DERTag.sequence, in: (whole + [0])[...]) }
        var fields = try DERReader.only(DERTag.sequence, in: whole[...]).elements
        #expect(try fields.next(DERTag.integer).smallInteger() == 5)
        #expect(try fields.flag())
        try fields.end()
    }

    @Test(
        arguments: [
            ([0x00], 0), ([0x7F], 127), ([0x00, 0x80], 128), ([0x80], nil), ([], nil), ([0x00, 0x7F], nil),
            ([0xFF, 0x80], nil), ([1, 0, 0, 0, 0, 0, 0, 0, 0], nil),
        ] as [([UInt8], Int?)])
    func `integers are in their shortest form`(content: [UInt8], value: Int?) {
        let element = DERElement(tag: DERTag.integer, content: content[...], encoding: [])
        #expect((try? element.smallInteger()) == value)
    }

    @Test(
        arguments: [
            ([0x05, 0xA0], [true, false, true]), ([0x00], []), ([0x08, 0xFF], nil), ([0x01], nil), ([], nil),
        ] as [([UInt8], [Bool]?)])
    func `bits are counted from the left`(content: [UInt8], bits: [Bool]?) {
        let element = DERElement(tag: DERTag.bitString, content: content[...], encoding: [])
        #expect((try? element.bits()) == bits)
    }

    @Test func `names compare without letter case, runs of spaces and string types`() throws {
        let printable = try NameAttributes(self.name(DERTag.printableString, "  Test   ROOT "))
        let utf8 = try NameAttributes(self.name(DERTag.utf8String, "test root"))
        let other = try NameAttributes(self.name(DERTag.utf8String, "testroot"))
        #expect(printable.name == utf8.name)
        #expect(utf8.name != other.name)
        #expect(utf8.name.isWithin(DistinguishedName(relativeNames: [])))
        #expect(utf8.commonNames == ["test root"])
    }

    private func name(_ tag: UInt8, _ text: String) -> ArraySlice<UInt8> {
        func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
        let value = element(DERTag.objectIdentifier, OID.commonName.bytes) + element(tag, Array(text.utf8))
        return element(DERTag.sequence, element(DERTag.set, element(DERTag.sequence, value)))[...]
    }
}
