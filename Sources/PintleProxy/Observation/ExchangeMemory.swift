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
    /// The lengths of what follows the facts, in bytes.
    fileprivate struct Shape {
        enum Target: UInt8 { case origin, http, https, authority, asterisk }

        var target = Target.asterisk
        var port: UInt16 = 0
        var host: UInt32 = 0
        var path: UInt32 = 0
        var request: UInt32 = 0
        var response: UInt32 = 0

        var length: Int { Int(self.host) + Int(self.path) + Int(self.request) + Int(self.response) }
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

    /// Only an empty one may end: ``removeFirst(at:)`` moves the facts out.
    deinit {
        precondition(self.space.count == 0, "BUG: kept exchanges are leaked")
        free(self.block)
    }

    // MARK: Writing

    /// An exchange that is to be kept, measured before the lock is taken.
    struct Arrival {
        fileprivate let ended: EndedExchange
        fileprivate let shape: Shape
        fileprivate let host: String
        fileprivate let path: String
        /// The room that it takes, in bytes.
        let size: Int

        init(_ ended: EndedExchange) {
            var (shape, host, path) = (Shape(), "", "")
            switch ended.target {
            case .origin(let text): (shape.target, path) = (.origin, text)
            case .absolute(let scheme, let authority, let text):
                shape.target = scheme == .http ? .http : .https
                (host, shape.port, path) = (authority.host, authority.port, text)
            case .authority(let authority):
                (shape.target, host, shape.port) = (.authority, authority.host, authority.port)
            case .asterisk: shape.target = .asterisk
            }
            (shape.host, shape.path) = (UInt32(host.utf8.count), UInt32(path.utf8.count))
            shape.request = UInt32(ended.requestFields.byteCount)
            shape.response = UInt32(ended.responseFields.byteCount)
            (self.ended, self.shape, self.host, self.path) = (ended, shape, host, path)
            self.size = ExchangeMemory.size(shape)
        }
    }

    /// Keeps an exchange behind the others.
    ///
    /// - Returns: its place; nil if older ones have to leave first, or if it has no room even alone.
    func put(_ arrival: Arrival) -> Int? {
        if self.block == nil { self.takeBlock() }
        guard let place = self.space.take(arrival.size) else { return nil }
        let start = self.base + place
        start.initializeMemory(as: EndedFacts.self, to: arrival.ended.facts)
        (start + Self.shapeOffset).initializeMemory(as: Shape.self, to: arrival.shape)
        var end = start + Self.textOffset
        Self.put(arrival.host, &end)
        Self.put(arrival.path, &end)
        arrival.ended.requestFields.copyLines(to: end)
        arrival.ended.responseFields.copyLines(to: end + Int(arrival.shape.request))
        return place
    }

    private static func put(_ text: String, _ end: inout UnsafeMutableRawPointer) {
        var text = text
        text.withUTF8 { bytes in
            if let start = bytes.baseAddress { end.copyMemory(from: start, byteCount: bytes.count) }
            end += bytes.count
        }
    }

    private static func size(_ shape: Shape) -> Int {
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
    /// - Returns: its facts, with the last references to other objects, and its size in bytes.
    func removeFirst(at place: Int) -> (facts: EndedFacts, size: Int) {
        let size = Self.size(self.shape(at: place))
        self.space.removeFirst(size)
        return (self.facts(at: place).move(), size)
    }

    private func facts(at place: Int) -> UnsafeMutablePointer<EndedFacts> {
        (self.base + place).assumingMemoryBound(to: EndedFacts.self)
    }

    private func shape(at place: Int) -> Shape {
        (self.base + place + Self.shapeOffset).assumingMemoryBound(to: Shape.self).pointee
    }
}
