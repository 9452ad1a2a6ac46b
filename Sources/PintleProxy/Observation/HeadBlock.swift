// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleMessage

/// The heads of a running exchange, copied for sinks that want them after its end.
///
/// They are copied when they come, because rules then change their fields: a section that was shared would be copied by its next
/// change, into two fresh blocks of memory. A block serves one exchange after the other, so that its memory stays in the cache. It
/// is no array, which would be asked with each part if it is shared. Used on the thread of its event loop.
final class HeadBlock {
    private(set) var shape = KeptHeads.Shape()
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// The next free block.
    fileprivate var next: HeadBlock?

    init(capacity: Int = 2048) { (self.memory, self.capacity) = (Self.allocate(capacity), capacity) }

    deinit { free(self.memory) }

    private static func allocate(_ size: Int) -> UnsafeMutableRawPointer {
        guard let memory = malloc(size) else { preconditionFailure("the system has no memory for heads") }
        return memory
    }

    /// The parts, one behind the other; valid until the next part comes.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: self.memory, count: self.shape.length) }

    /// The bytes of the method; valid until the next part comes.
    var method: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: self.memory, count: Int(self.shape.method))
    }

    /// Drops what the block has, and takes the head of a request.
    func begin(_ method: String, _ target: RequestTarget, _ fields: Fields) {
        switch target {
        case .origin(let path): self.begin(.origin, 0, method, "", path, fields)
        case .absolute(let scheme, let authority, let path):
            self.begin(scheme == .http ? .http : .https, authority.port, method, authority.host, path, fields)
        case .authority(let authority): self.begin(.authority, authority.port, method, authority.host, "", fields)
        case .asterisk: self.begin(.asterisk, 0, method, "", "", fields)
        }
    }

    private func begin(
        _ target: KeptHeads.Shape.Target, _ port: UInt16, _ method: String, _ host: String, _ path: String,
        _ fields: Fields
    ) {
        let shape = KeptHeads.Shape(
            target: target, port: port, method: UInt32(method.utf8.count), host: UInt32(host.utf8.count),
            path: UInt32(path.utf8.count), request: UInt32(fields.byteCount))
        self.shape = KeptHeads.Shape()
        var end = self.room(for: shape.length)
        Self.copy(method, to: &end)
        Self.copy(host, to: &end)
        Self.copy(path, to: &end)
        fields.copyBytes(to: end)
        self.shape = shape
    }

    /// Takes the fields of a response, in the place of those of an earlier one.
    func keep(response fields: Fields) {
        self.shape.response = 0
        fields.copyBytes(to: self.room(for: fields.byteCount))
        self.shape.response = UInt32(fields.byteCount)
    }

    private static func copy(_ text: String, to end: inout UnsafeMutableRawPointer) {
        text.utf8Span.span.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { end.copyMemory(from: start, byteCount: bytes.count) }
            end += bytes.count
        }
    }

    /// The end of the parts, with room for more.
    private func room(for count: Int) -> UnsafeMutableRawPointer {
        let length = self.shape.length
        if length + count > self.capacity { self.grow(to: 2 * (length + count)) }
        return self.memory + length
    }

    private func grow(to capacity: Int) {
        let larger = Self.allocate(capacity)
        larger.copyMemory(from: self.memory, byteCount: self.shape.length)
        free(self.memory)
        (self.memory, self.capacity) = (larger, capacity)
    }

    /// The blocks that no exchange of an event loop uses at present.
    final class Pool {
        private var first: HeadBlock?
        private var count = 0

        /// The most blocks, and the largest, that wait for an exchange.
        private static let mostBlocks = 64
        private static let largest = 8192

        /// Exchanges that have not ended have a block each.
        func take() -> HeadBlock {
            guard let block = self.first else { return HeadBlock() }
            self.first = block.next
            block.next = nil
            self.count -= 1
            return block
        }

        func giveBack(_ block: HeadBlock) {
            // It is let go if it has grown large, or if many wait already.
            guard self.count < Self.mostBlocks, block.capacity <= Self.largest else { return }
            block.next = self.first
            self.first = block
            self.count += 1
        }
    }
}

extension Fields {
    /// Copies the section in its wire form, ``byteCount`` bytes.
    fileprivate func copyBytes(to target: UnsafeMutableRawPointer) {
        var end = target
        self.forEachRun { run in
            if let start = run.baseAddress { end.copyMemory(from: start, byteCount: run.count) }
            end += run.count
        }
    }
}

extension KeptHeads {
    init(_ block: HeadBlock) { self.init(block.shape, copying: block.bytes) }
}
