// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import Testing

/// The members of a compound serializer.
@Suite struct CompoundMemberTests {
    @Test func `CMP-09 a copy has the same members in the same order`() throws {
        let (plain, cleaning) = (JSONResponseSerializer(), JSONResponseSerializer(rule: .init(removesNulls: true)))
        for members in [[plain, cleaning], [cleaning, plain]] {
            let original = CompoundResponseSerializer(members)
            let copy = original
            #expect(copy.members.map { $0 as? JSONResponseSerializer } == members)
            let value = try copy.decode(response(200, "text/json"), body: bytes("[null]"), requestMethod: "GET")
            #expect(value == .value(members[0] == plain ? .array([.null]) : []))
        }
    }

    @Test func `CMP-04 what members object to is forgotten when a later one takes the response`() throws {
        let compound = CompoundResponseSerializer([
            PropertyListResponseSerializer().map { _ in "property list" }, JSONResponseSerializer().map { _ in "JSON" },
        ])
        let decode = { (status: UInt16, body: String) in
            try compound.decode(response(status, "text/json"), body: bytes(body), requestMethod: "GET")
        }
        #expect(try decode(200, "[]") == .value("JSON"))
        #expect(try decode(200, "[") == .bytes(bytes("[")))
        let error = #expect(throws: ValidationError.self) { try decode(500, "[") }
        #expect(error?.chain.map(\.kind) == [.responseStatus])
    }
}
