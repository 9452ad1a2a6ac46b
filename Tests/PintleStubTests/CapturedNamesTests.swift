// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintleStub

struct CapturedNamesTests {
    @Test func `each name has its own addresses, until there are no more`() throws {
        let names = CapturedNames()
        var seen: Set<IPAddress> = []
        for number in 0..<131_069 {
            guard let pair = names.addresses(of: "n\(number).example") else { break }
            seen.insert(pair.v4)
            seen.insert(pair.v6)
        }
        #expect(seen.count == 2 * 131_069 && seen.allSatisfy(CapturedNetwork.contains))
        #expect(names.addresses(of: "one.more") == nil)
        #expect(names.addresses(of: "n7.example")?.v4 == IPAddress("198.18.0.9"))
        #expect(!seen.contains(CapturedNetwork.address4) && !seen.contains(CapturedNetwork.address6))
        for edge in ["198.18.0.0", "198.19.255.255", "198.20.0.0", "198.17.255.255"] {
            #expect(!seen.contains(try #require(IPAddress(edge))))
        }
        #expect(IPAddress("198.19.255.254").flatMap(names.name) == "n131068.example")
    }

    @Test func `addresses lead back to names, and others to none`() throws {
        let names = CapturedNames()
        let pair = try #require(names.addresses(of: "a.example"))
        #expect(names.name(of: pair.v4) == "a.example" && names.name(of: pair.v6) == "a.example")
        for other in [
            "198.18.0.3", "198.18.0.1", "198.18.0.0", "198.19.255.255", "10.0.0.2", "fd70:696e:746c:e000::3",
            "fd70:696e:746c:e000:1::2", "fd70:696e:746c:e001::2", "::2",
        ] {
            #expect(names.name(of: try #require(IPAddress(other))) == nil, "\(other)")
        }
    }

    @Test func `the network's own addresses are those that the child has`() {
        #expect(CapturedNetwork.address4.description == "198.18.0.1")
        #expect(CapturedNetwork.address6.description == "fd70:696e:746c:e000::1")
        #expect(CapturedNetwork.contains(CapturedNetwork.address4) && !CapturedNetwork.contains(IPAddress(v4: 1)))
    }
}
