// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import PintleMessage

/// A list of header lines as libcurl wants it, in one block of memory that is used again for the next request.
///
/// libcurl reads CURLOPT_HTTPHEADER's list and never frees it, so the nodes and their text may lie side by side.
struct HeaderBlock: ~Copyable {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int

    /// - Parameter capacity: in bytes; it grows with what is laid out.
    init(capacity: Int = 2048) {
        self.capacity = capacity
        self.memory = .allocate(byteCount: self.capacity, alignment: MemoryLayout<curl_slist>.alignment)
    }

    deinit { self.memory.deallocate() }

    /// Lays out `fields`, after `directives`: lines such as `Accept:` that take a default of libcurl's away.
    ///
    /// The list is valid until the next call.
    mutating func list(of fields: Fields, directives: [StaticString]) -> UnsafeMutablePointer<curl_slist>? {
        let count = fields.count + directives.count
        guard count > 0 else { return nil }
        let nodesSize = count * MemoryLayout<curl_slist>.stride
        let needed = nodesSize + fields.byteCount + count + directives.reduce(0) { $0 + $1.utf8CodeUnitCount }
        if needed > self.capacity {
            self.memory.deallocate()
            self.capacity = needed
            self.memory = .allocate(byteCount: needed, alignment: MemoryLayout<curl_slist>.alignment)
        }
        let nodes = self.memory.bindMemory(to: curl_slist.self, capacity: count)
        var text = self.memory + nodesSize
        var index = 0
        func add(_ line: UnsafeRawBufferPointer) {
            nodes[index] = curl_slist(
                data: text.assumingMemoryBound(to: CChar.self), next: index + 1 < count ? nodes + index + 1 : nil)
            if let base = line.baseAddress { text.copyMemory(from: base, byteCount: line.count) }
            var end = line.count
            // `Name: ` would remove a header; `Name;` is how libcurl is told to send an empty one.
            if end >= 2, line[end - 2] == UInt8(ascii: ":"), line[end - 1] == UInt8(ascii: " ") {
                text.storeBytes(of: UInt8(ascii: ";"), toByteOffset: end - 2, as: UInt8.self)
                end -= 1
            }
            text.storeBytes(of: 0, toByteOffset: end, as: UInt8.self)
            text += end + 1
            index += 1
        }
        for directive in directives {
            directive.withUTF8Buffer { add(UnsafeRawBufferPointer($0)) }
        }
        fields.forEachLine { _, line in add(line) }
        return nodes
    }
}
