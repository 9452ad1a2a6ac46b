// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import Testing

@Suite struct ValidationErrorTests {
    private static let first = ValidationError(.responseStatus, "a", status: 500, contentType: nil)
    private static let second = ValidationError(.responseContentType, "b", status: 500, contentType: "t/t")
    private static let third = ValidationError(.responseBody, "c", status: 500, contentType: nil)

    @Test func `ERR-01 one error combined with none is itself`() {
        #expect(ValidationError.combine(Self.first, underlying: nil) == Self.first)
        #expect(ValidationError.combine(nil, underlying: Self.second) == Self.second)
        #expect(ValidationError.combine(nil, underlying: nil) == nil)
    }

    @Test func `ERR-02 two errors become a chain`() {
        let both = ValidationError.combine(Self.first, underlying: Self.second)
        #expect(both?.kind == .responseStatus)
        #expect(both?.message == "a")
        #expect(both?.underlying == Self.second)
        #expect(both?.description == "a; b")
    }

    @Test func `ERR-03 an error that has one behind it stays as it is`() {
        let both = ValidationError.combine(Self.first, underlying: Self.third)
        #expect(ValidationError.combine(both, underlying: Self.second) == both)
    }

    @Test func `ERR-04 a kind is found at any depth`() {
        let both = ValidationError.combine(Self.second, underlying: Self.third)
        let all = ValidationError.combine(Self.first, underlying: both)
        #expect(ValidationError.Kind.allCases.filter { all?.has($0) == false } == [.bodyTooLarge])
        #expect(all?.chain.map(\.message) == ["a", "b", "c"])
        #expect(!Self.first.has(.responseBody))
    }

    @Test func `LOOK-43 errors found in any order are told in the order status, type, body, each once`() {
        let found = ValidationError.combine(Self.third, underlying: Self.first)
        let all = ValidationError.ordered([found, nil, Self.second, Self.first])
        #expect(all?.chain.map(\.message) == ["a", "b", "c"])
        #expect(ValidationError.ordered([nil]) == nil && ValidationError.ordered([Self.third]) == Self.third)
    }
}
