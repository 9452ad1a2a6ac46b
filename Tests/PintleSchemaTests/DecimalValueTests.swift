// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import Testing

@testable import PintleSchema

@Suite struct DecimalValueTests {
    @Test(arguments: [
        ("1", "1.0"), ("100", "1e2"), ("0", "-0.0"), ("0.1", "100e-3"),
        ("12345678901234567890", "1234567890123456789e1"),
    ])
    func `numbers that are worth the same are equal, however they are written`(_ left: String, _ right: String) {
        #expect(DecimalValue(jsonNumber: left) == DecimalValue(jsonNumber: right))
    }

    @Test(arguments: [
        ("-1e400", "-1"), ("-1", "-1e-400"), ("-1e-400", "0"), ("0", "1e-400"), ("1e-400", "0.1"), ("0.1", "0.11"),
        ("0.9", "1"), ("9007199254740992", "9007199254740993"), ("1e308", "1e309"),
        ("1e99999999999999999998", "2e99999999999999999999"),
    ])
    func `the smaller number comes first, at any size`(_ small: String, _ large: String) {
        #expect(DecimalValue(jsonNumber: small) < DecimalValue(jsonNumber: large))
        #expect(!(DecimalValue(jsonNumber: large) < DecimalValue(jsonNumber: small)))
    }

    @Test(arguments: [
        ("0.3", "0.1", true), ("0.35", "0.1", false), ("1.1", "0.01", true), ("0", "7", true), ("-21", "7", true),
        ("22", "7", false), ("1e400", "7", false), ("7e400", "7", true), ("1e400", "1e-300", true),
        ("1e-300", "1e300", false), ("1e300", "123456789", false), ("19.99", "0.01", true), ("4.5", "1.5", true),
        ("1e999999999999999999999999", "2", true), ("123456789012345678901234567890", "10", true),
    ])
    func `multiples are exact`(_ number: String, _ divisor: String, _ isMultiple: Bool) {
        #expect(DecimalValue(jsonNumber: number).isMultiple(of: DecimalValue(jsonNumber: divisor)) == isMultiple)
    }

    @Test func `a whole number has its value, and any other none`() {
        #expect(DecimalValue(jsonNumber: "-9223372036854775808").integer == Int64.min)
        #expect(DecimalValue(jsonNumber: "9223372036854775808").integer == nil)
        #expect(DecimalValue(jsonNumber: "1e18").integer == 1_000_000_000_000_000_000)
        #expect(DecimalValue(jsonNumber: "1e1000").integer == nil)
        #expect(DecimalValue(jsonNumber: "0.5").integer == nil)
        #expect(DecimalValue(jsonNumber: "0e5").integer == 0)
    }

    @Test func `what is no finite number has no value`() {
        #expect(DecimalValue(.number(.infinity)) == nil)
        #expect(DecimalValue(.number(.nan)) == nil)
        #expect(DecimalValue(.string("1")) == nil)
        #expect(DecimalValue(.number(.leastNonzeroMagnitude)) == DecimalValue(jsonNumber: "5e-324"))
    }
}
