// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

struct AddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:db8::1", "2001:db8::1"),
        ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"), ("::ffff:10.0.0.1", "10.0.0.1"), ("::ffff:a00:1", "10.0.0.1"),
        ("64:ff9b::1.2.3.4", "64:ff9b::102:304"), ("fe80::0001", "fe80::1"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ])
    func `an address is read and written in its normal form`(text: String, expected: String) {
        #expect(IPAddress(text)?.description == expected)
    }

    @Test(arguments: [
        "", "1", "127.1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.", ".1.2.3", "01.2.3.4", "1.2.3.04", "0x7f.0.0.1",
        "1.2.3.4 ", "+1.2.3.4", "localhost", ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::",
        "::g", "1:2:3:4:5:6:7:8::", "::1%eth0", "[::1]", "1:", ":1", "::1:", "1.2.3.4::", "::1.2.3",
        "1:2:3:4:5:6:7:1.2.3.4",
    ])
    func `what is not strictly an address is none`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `addresses come out of socket addresses`() {
        let v4: [UInt8] = [2, 0, 0x0C, 0x38, 10, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0]
        let v6: [UInt8] = [10, 0, 0x0C, 0x38, 0, 0, 0, 0] + Array(repeating: 0, count: 15) + [1] + [0, 0, 0, 0]
        let mapped: [UInt8] =
            [10, 0, 0x0C, 0x38, 0, 0, 0, 0] + Array(repeating: 0, count: 10) + [255, 255, 10, 1, 2, 3, 0, 0, 0, 0]
        #expect(v4.withUnsafeBytes { IPAddress(socketAddress: $0) } == IPAddress("10.1.2.3"))
        #expect(v6.withUnsafeBytes { IPAddress(socketAddress: $0) } == IPAddress("::1"))
        #expect(mapped.withUnsafeBytes { IPAddress(socketAddress: $0) } == IPAddress("10.1.2.3"))
        #expect([UInt8]([1, 0, 0, 0]).withUnsafeBytes { IPAddress(socketAddress: $0) } == nil)
        #expect(v4[..<6].withUnsafeBytes { IPAddress(socketAddress: $0) } == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("0.0.0.0/0", "1.2.3.4", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "::1", true), ("::/0", "1.2.3.4", false), ("10.0.0.1", "10.0.0.1", true),
        ("10.0.0.1", "10.0.0.2", false), ("2001:db8::/33", "2001:db8:7fff::1", true),
        ("2001:db8::/33", "2001:db8:8000::1", false), ("10.0.0.0/8", "::ffff:10.2.3.4", true),
        ("::ffff:10.0.0.0/104", "10.2.3.4", true), ("::1/128", "::1", true), ("fe80::/10", "febf::1", true),
    ])
    func `a network holds its members`(network: String, address: String, expected: Bool) throws {
        let address = try #require(IPAddress(address))
        #expect(try CIDR(network).contains(address) == expected)
    }

    @Test(arguments: [
        ("10.1.2.3/8", "bits beyond the prefix are set; did you mean 10.0.0.0/8?"),
        ("2001:db8::1/64", "bits beyond the prefix are set; did you mean 2001:db8::/64?"),
        ("10.0.0.0/33", "the prefix of this address is a number from 0 to 32"),
        ("10.0.0.0/", "the prefix of this address is a number from 0 to 32"),
        ("10.0.0.0/+8", "the prefix of this address is a number from 0 to 32"),
        ("::/129", "the prefix of this address is a number from 0 to 128"),
        ("::ffff:10.0.0.0/8", "the prefix of this address is a number from 96 to 128"),
        ("example.com/8", "not an address or network, as in 10.0.0.0/8 or 2001:db8::/32"),
    ])
    func `a malformed network is refused with the reason`(text: String, reason: String) {
        #expect(throws: Malformed(reason)) { try CIDR(text) }
    }
}
