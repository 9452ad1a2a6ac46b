// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux

/// One message of the kernel about links, addresses or routes (rtnetlink(7)).
struct RouteMessage: Equatable {
    enum Content: Equatable {
        case link(NetworkLink)
        case address(NetworkAddress)
        case route(NetworkRoute)
        /// A dump is complete.
        case end
        /// A request failed with this errno; 0 means success.
        case failure(Int32)
        /// A message that does not matter here, or cannot be parsed.
        case other
    }

    let content: Content
    /// The number of the request that this message answers.
    let sequence: UInt32
    /// True if the tables changed during the dump to which this message belongs, so that it must be repeated.
    let isInterrupted: Bool

    /// Reads the messages of one datagram, up to the first whose length is invalid.
    static func parse(_ datagram: ArraySlice<UInt8>) -> [RouteMessage] {
        var messages: [RouteMessage] = []
        var rest = datagram
        while let length: UInt32 = rest.integer(at: 0), length >= 16, length <= rest.count,
            let type: UInt16 = rest.integer(at: 4), let flags: UInt16 = rest.integer(at: 6),
            let sequence: UInt32 = rest.integer(at: 8)
        {
            messages.append(
                RouteMessage(
                    content: Self.content(Int(type), rest.prefix(Int(length)).dropFirst(16)),
                    sequence: sequence, isInterrupted: Int(flags) & PINTLE_DUMP_INTERRUPTED != 0))
            rest = rest.dropFirst(aligned(Int(length)))
        }
        return messages
    }

    private static func content(_ type: Int, _ body: ArraySlice<UInt8>) -> Content {
        switch type {
        case PINTLE_NEW_LINK, PINTLE_DELETE_LINK: NetworkLink(message: body).map { .link($0) } ?? .other
        case PINTLE_NEW_ADDRESS, PINTLE_DELETE_ADDRESS: NetworkAddress(message: body).map { .address($0) } ?? .other
        case PINTLE_NEW_ROUTE, PINTLE_DELETE_ROUTE: NetworkRoute(message: body).map { .route($0) } ?? .other
        case PINTLE_MESSAGE_DONE: .end
        // The number is negative, as always if the kernel returns an error.
        case PINTLE_MESSAGE_ERROR: .failure(body.integer(at: 0).map { (code: Int32) in -max(code, -4095) } ?? 0)
        default: .other
        }
    }
}

extension NetworkLink {
    /// Reads a `struct ifinfomsg` and its attributes.
    fileprivate init?(message: ArraySlice<UInt8>) {
        // A message with an address family is about a port of a bridge.
        guard message.first == 0, let hardware: UInt16 = message.integer(at: 2),
            let index: Int32 = message.integer(at: 4), let flags: UInt32 = message.integer(at: 8)
        else { return nil }
        var name = ""
        message.dropFirst(16).forEachAttribute { type, value in
            if type == PINTLE_LINK_NAME { name = String(decoding: value.prefix { $0 != 0 }, as: UTF8.self) }
        }
        self.init(index: index, name: name, hardware: hardware, flags: flags)
    }
}

extension NetworkAddress {
    /// Reads a `struct ifaddrmsg`; its attributes do not matter here.
    fileprivate init?(message: ArraySlice<UInt8>) {
        guard let family = message.first, let flags: UInt8 = message.integer(at: 2),
            let scope: UInt8 = message.integer(at: 3), let link: Int32 = message.integer(at: 4)
        else { return nil }
        let isInUse = Int(flags) & (PINTLE_ADDRESS_TENTATIVE | PINTLE_ADDRESS_DUPLICATE) == 0
        self.init(link: link, family: family, isUsable: isInUse && Int(scope) < PINTLE_SCOPE_LINK)
    }
}

extension NetworkRoute {
    /// Reads a `struct rtmsg` and its attributes.
    fileprivate init?(message: ArraySlice<UInt8>) {
        guard message.count >= 12, let family = message.first, let prefix: UInt8 = message.integer(at: 1),
            let type: UInt8 = message.integer(at: 7)
        else { return nil }
        let carries = PINTLE_ROUTE_UNICAST...PINTLE_ROUTE_MULTICAST ~= Int(type)
        var route = NetworkRoute(family: family, prefixLength: prefix, carries: carries)
        route.isLocal = Int(type) == PINTLE_ROUTE_LOCAL
        message.dropFirst(12).forEachAttribute { type, value in
            switch type {
            case PINTLE_ROUTE_OUTPUT: route.links += [value.integer(at: 0)].compactMap { $0 }
            case PINTLE_ROUTE_METRIC: route.metric = value.integer(at: 0) ?? route.metric
            case PINTLE_ROUTE_PATHS: route.links += Self.links(ofPaths: value)
            default: break
            }
        }
        self = route
    }

    /// Reads the `struct rtnexthop`s of a route that is spread over several links.
    private static func links(ofPaths bytes: ArraySlice<UInt8>) -> [Int32] {
        var links: [Int32] = []
        var rest = bytes
        while let length: UInt16 = rest.integer(at: 0), length >= 8, length <= rest.count,
            let link: Int32 = rest.integer(at: 4)
        {
            links.append(link)
            rest = rest.dropFirst(aligned(Int(length)))
        }
        return links
    }
}

/// Returns the next multiple of four, at which the next part of a netlink message begins.
private func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

extension ArraySlice<UInt8> {
    /// Returns the number at `offset` in the machine's byte order; nil if the bytes end before it does.
    fileprivate func integer<Number: FixedWidthInteger>(at offset: Int) -> Number? {
        guard offset + MemoryLayout<Number>.size <= self.count else { return nil }
        return self.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }

    /// Calls `body` for each attribute (`struct rtattr`), up to the first whose length is invalid.
    fileprivate func forEachAttribute(_ body: (_ type: Int, _ value: ArraySlice<UInt8>) -> Void) {
        var rest = self
        while let length: UInt16 = rest.integer(at: 0), length >= 4, length <= rest.count,
            let type: UInt16 = rest.integer(at: 2)
        {
            // The two highest bits are flags.
            body(Int(type & 0x3FFF), rest.prefix(Int(length)).dropFirst(4))
            rest = rest.dropFirst(aligned(Int(length)))
        }
    }
}
