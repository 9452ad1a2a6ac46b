// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleMessage

/// The memory of kept exchanges: one block, in which they lie one behind the other.
///
/// An exchange that was kept as it is held six allocations of 2 KiB together, with room in them that nothing used. While tens of
/// thousands are gathered, the allocator asks the kernel for memory at every second one, and each new page costs a processor 2 µs.
/// Here an exchange takes a third of that, the kernel is asked once, and a page that was touched serves for good.
///
/// It has no lock of its own.
// @unchecked: only `RecentExchanges` has one, and uses it under its lock.
final class ExchangeMemory: @unchecked Sendable {
    /// The lengths of what follows the facts, in bytes. Measured before the lock is taken.
    struct Shape {
        fileprivate enum Target: UInt8 { case origin, http, https, authority, asterisk }

        fileprivate var target = Target.asterisk
        fileprivate var port: UInt16 = 0
        fileprivate var host: UInt32 = 0
        fileprivate var path: UInt32 = 0
        fileprivate var request: UInt32 = 0
        fileprivate var response: UInt32 = 0

        fileprivate var length: Int {
            Int(self.host) + Int(self.path) + Int(self.request) + Int(self.response)
        }

        init(_ target: RequestTarget, _ request: Fields, _ response: Fields) {
            switch target {
            case .origin(let text): (self.target, self.path) = (.origin, UInt32(text.utf8.count))
            case .absolute(let scheme, let authority, let text):
                self.target = scheme == .http ? .http : .https
                (self.host, self.port) = (UInt32(authority.host.utf8.count), authority.port)
                self.path = UInt32(text.utf8.count)
            case .authority(let authority):
                self.target = .authority
                (self.host, self.port) = (UInt32(authority.host.utf8.count), authority.port)
            case .asterisk: break
            }
            (self.request, self.response) = (UInt32(request.byteCount), UInt32(response.byteCount))
        }
    }

    private static let alignment = 16
    private static let shapeOffset = MemoryLayout<EndedFacts>.stride
    private static let textOffset = ExchangeMemory.shapeOffset + MemoryLayout<Shape>.stride

    private let capacity: Int
    /// Nil before the first exchange, and if the system has no memory for it.
    private var block: UnsafeMutableRawPointer?
    private var space = RingSpace(capacity: 0)

    private var base: UnsafeMutableRawPointer {
        guard let block else { preconditionFailure("BUG: nothing was kept yet") }
        return block
    }

    /// - Parameter capacity: in bytes. Nothing is taken before the first exchange; then the kernel gives the memory when it is
    ///   first written.
    init(capacity: Int) {
        precondition(MemoryLayout<EndedFacts>.alignment <= Self.alignment, "BUG: facts are not aligned")
        self.capacity = capacity
    }

    /// Takes the block; a much smaller one if the system has not so much (RLIMIT_DATA), so that room is left for the rest.
    private func takeBlock() {
        var size = self.capacity
        while self.block == nil, size > 0 {
            // Aligned to 16 bytes, as every block of malloc(3).
            self.block = malloc(size)
            if self.block == nil { size /= 8 }
        }
        self.space = RingSpace(capacity: size)
    }

    /// Only an empty one may end: ``removeFirst(at:)`` releases the facts.
    deinit {
        precondition(self.space.count == 0, "BUG: kept exchanges are leaked")
        free(self.block)
    }

    // MARK: Writing

    /// Takes the place behind the others for an exchange, which ``fill(_:_:_:_:_:_:)`` then writes.
    ///
    /// - Returns: nil if older ones have to leave first, or if it has no room even alone.
    func reserve(_ shape: Shape) -> Int? {
        if self.block == nil { self.takeBlock() }
        return self.space.take(Self.size(of: shape))
    }

    func fill(
        _ place: Int, _ shape: Shape, _ facts: consuming EndedFacts, _ target: RequestTarget, _ request: Fields,
        _ response: Fields
    ) {
        let start = self.base + place
        start.initializeMemory(as: EndedFacts.self, to: facts)
        (start + Self.shapeOffset).initializeMemory(as: Shape.self, to: shape)
        var next = start + Self.textOffset
        switch target {
        case .origin(let path): Self.put(path, &next)
        case .absolute(_, let authority, let path):
            Self.put(authority.host, &next)
            Self.put(path, &next)
        case .authority(let authority): Self.put(authority.host, &next)
        case .asterisk: break
        }
        request.copyLines(to: next)
        response.copyLines(to: next + Int(shape.request))
    }

    private static func put(_ text: String, _ next: inout UnsafeMutableRawPointer) {
        var text = text
        text.withUTF8 { bytes in
            if let start = bytes.baseAddress { next.copyMemory(from: start, byteCount: bytes.count) }
            next += bytes.count
        }
    }

    /// The room that an exchange takes, in bytes.
    static func size(of shape: Shape) -> Int {
        (Self.textOffset + shape.length + Self.alignment - 1) / Self.alignment * Self.alignment
    }

    // MARK: Reading

    /// The id of the exchange at a place.
    func id(at place: Int) -> ExchangeID { self.facts(at: place).pointee.id }

    /// The exchange at a place.
    func exchange(at place: Int) -> EndedExchange {
        let shape = self.shape(at: place)
        var start = UnsafeRawPointer(self.base + place + Self.textOffset)
        func next(_ count: UInt32) -> UnsafeRawBufferPointer {
            defer { start += Int(count) }
            return UnsafeRawBufferPointer(start: start, count: Int(count))
        }
        let authority = Authority(host: String(decoding: next(shape.host), as: UTF8.self), port: shape.port)
        let path = String(decoding: next(shape.path), as: UTF8.self)
        let target: RequestTarget =
            switch shape.target {
            case .origin: .origin(path: path)
            case .http: .absolute(scheme: .http, authority: authority, path: path)
            case .https: .absolute(scheme: .https, authority: authority, path: path)
            case .authority: .authority(authority)
            case .asterisk: .asterisk
            }
        return EndedExchange(
            self.facts(at: place).pointee, target: target, requestFields: Fields(copiedLines: next(shape.request)),
            responseFields: Fields(copiedLines: next(shape.response)))
    }

    /// Forgets the oldest exchange.
    ///
    /// - Parameter place: of the oldest.
    /// - Returns: its size in bytes, with that of its further parts.
    func removeFirst(at place: Int) -> Int {
        let size = Self.size(of: self.shape(at: place))
        self.space.removeFirst(size)
        let facts = self.facts(at: place)
        defer { facts.deinitialize(count: 1) }
        return size + (facts.pointee.extras?.size ?? 0)
    }

    private func facts(at place: Int) -> UnsafeMutablePointer<EndedFacts> {
        (self.base + place).assumingMemoryBound(to: EndedFacts.self)
    }

    private func shape(at place: Int) -> Shape {
        (self.base + place + Self.shapeOffset).assumingMemoryBound(to: Shape.self).pointee
    }
}
