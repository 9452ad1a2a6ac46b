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

    /// Drops what the block has, and takes the head of a request.
    func begin(_ method: String, _ target: RequestTarget, _ fields: Fields) {
        self.shape = KeptHeads.Shape()
        self.shape.method = self.put(method)
        switch target {
        case .origin(let path):
            self.shape.target = .origin
            self.shape.path = self.put(path)
        case .absolute(let scheme, let authority, let path):
            self.shape.target = scheme == .http ? .http : .https
            (self.shape.host, self.shape.port) = (self.put(authority.host), authority.port)
            self.shape.path = self.put(path)
        case .authority(let authority):
            self.shape.target = .authority
            (self.shape.host, self.shape.port) = (self.put(authority.host), authority.port)
        case .asterisk: break
        }
        self.shape.request = self.put(fields)
    }

    /// Takes the fields of a response, in the place of those of an earlier one.
    func keep(response fields: Fields) {
        self.shape.response = 0
        self.shape.response = self.put(fields)
    }

    private func put(_ text: String) -> UInt32 {
        var text = text
        return text.withUTF8 { bytes in
            let end = self.room(for: bytes.count)
            if let start = bytes.baseAddress { end.copyMemory(from: start, byteCount: bytes.count) }
            return UInt32(bytes.count)
        }
    }

    private func put(_ fields: Fields) -> UInt32 {
        var end = self.room(for: fields.byteCount)
        fields.forEachRun { run in
            if let start = run.baseAddress { end.copyMemory(from: start, byteCount: run.count) }
            end += run.count
        }
        return UInt32(fields.byteCount)
    }

    /// The end of the parts, with room for one more.
    private func room(for count: Int) -> UnsafeMutableRawPointer {
        let length = self.shape.length
        if length + count > self.capacity {
            self.capacity = 2 * (length + count)
            let larger = Self.allocate(self.capacity)
            larger.copyMemory(from: self.memory, byteCount: length)
            free(self.memory)
            self.memory = larger
        }
        return self.memory + length
    }

    /// The blocks that no exchange of an event loop uses at present.
    struct Pool {
        private var first: HeadBlock?
        private var count = 0

        /// The most blocks, and the largest, that wait for an exchange.
        private static let mostBlocks = 64
        private static let largest = 8192

        /// Exchanges that have not ended have a block each.
        mutating func take() -> HeadBlock {
            guard let block = self.first else { return HeadBlock() }
            self.first = block.next
            block.next = nil
            self.count -= 1
            return block
        }

        mutating func giveBack(_ block: HeadBlock) {
            // It is let go if it has grown large, or if many wait already.
            guard self.count < Self.mostBlocks, block.capacity <= Self.largest else { return }
            block.next = self.first
            self.first = block
            self.count += 1
        }
    }
}

extension KeptHeads {
    init(_ block: HeadBlock) { self.init(block.shape, copying: block.bytes) }
}
