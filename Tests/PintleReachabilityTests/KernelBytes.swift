// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Messages as the kernel lays them out, built for tests.
enum KernelBytes {
    static func message(_ type: UInt16, flags: UInt16 = 0, sequence: UInt32 = 0, _ body: [UInt8] = []) -> [UInt8] {
        let header = Self.bytes(UInt32(16 + body.count)) + Self.bytes(type) + Self.bytes(flags) + Self.bytes(sequence)
        return Self.padded(header + Self.bytes(UInt32(0)) + body)
    }

    static func link(
        _ index: Int32, _ name: String, hardware: UInt16 = 1, flags: UInt32 = 0x1_1043, family: UInt8 = 0,
        type: UInt16 = 16
    ) -> [UInt8] {
        let head = [family, 0] + Self.bytes(hardware) + Self.bytes(index) + Self.bytes(flags) + Self.bytes(UInt32(0))
        // An attribute that Pintle does not read comes first, as there are dozens of them.
        return Self.message(type, head + Self.attribute(4, Self.bytes(UInt32(1500))) + Self.name(name))
    }

    static func address(_ link: Int32, family: Int32 = AF_INET, flags: UInt8 = 0x80, scope: UInt8 = 0) -> [UInt8] {
        let value: [UInt8] = family == AF_INET ? [10, 0, 0, 1] : [UInt8](repeating: 0xFD, count: 16)
        return Self.message(20, [UInt8(family), 24, flags, scope] + Self.bytes(link) + Self.attribute(1, value))
    }

    static func route(
        family: Int32 = AF_INET, prefix: UInt8 = 0, kind: UInt8 = 1, metric: UInt32? = nil, over links: [Int32],
        type: UInt16 = 24
    ) -> [UInt8] {
        var body: [UInt8] = [UInt8(family), prefix, 0, 0, 254, 3, 0, kind, 0, 0, 0, 0]
        if let metric { body += Self.attribute(6, Self.bytes(metric)) }
        if links.count == 1 {
            body += Self.attribute(4, Self.bytes(links[0]))
        } else {
            let gateway = Self.attribute(5, [10, 0, 0, 2])
            var paths: [UInt8] = []
            for link in links {
                paths += Self.bytes(UInt16(8 + gateway.count)) + [0, 0] + Self.bytes(link) + gateway
            }
            body += Self.attribute(9, paths)
        }
        return Self.message(type, body)
    }

    static func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number, Array.init) }

    private static func name(_ name: String) -> [UInt8] { Self.attribute(3, Array(name.utf8) + [0]) }

    private static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        Self.padded(Self.bytes(UInt16(4 + value.count)) + Self.bytes(type) + value)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
}
