// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Memory for one message at a time, with its sender and what the kernel says about it.
final class DatagramSpace {
    private static let (senderSize, controlSize, size) = (128, 256, 4096)

    private let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: DatagramSpace.senderSize + DatagramSpace.controlSize + DatagramSpace.size, alignment: 16)
    private var header = msghdr()
    private var count = 0

    deinit { self.memory.deallocate() }

    /// Room for a message, of 4 KiB. A datagram that is longer is cut off.
    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: self.memory[(Self.senderSize + Self.controlSize)...])
    }

    /// The text of the datagram that was received last.
    var text: Slice<UnsafeMutableRawBufferPointer> { self.bytes[..<self.count] }

    /// Receives a datagram; returns false if there is none.
    func receive(_ socket: Int32) -> Bool {
        self.header.msg_name = self.memory.baseAddress
        self.header.msg_namelen = socklen_t(Self.senderSize)
        self.header.msg_control = self.memory.baseAddress?.advanced(by: Self.senderSize)
        self.header.msg_controllen = Self.controlSize
        let count = self.call(self.bytes) { recvmsg(socket, $0, Int32(MSG_DONTWAIT)) }
        self.count = max(0, count)
        return count >= 0
    }

    /// Answers the sender. The kernel's words about the destination go back to it, so that the answer comes from there.
    func send(_ answer: [UInt8], by socket: Int32) {
        answer.withUnsafeBytes { answer in
            let text = UnsafeMutableRawBufferPointer(mutating: answer)
            _ = self.call(text) { sendmsg(socket, $0, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)) }
        }
    }

    private func call(_ text: UnsafeMutableRawBufferPointer, _ body: (UnsafeMutablePointer<msghdr>) -> Int) -> Int {
        var piece = iovec(iov_base: text.baseAddress, iov_len: text.count)
        return withUnsafeMutablePointer(to: &piece) { piece in
            self.header.msg_iov = piece
            self.header.msg_iovlen = 1
            defer { self.header.msg_iov = nil }
            return withUnsafeMutablePointer(to: &self.header, body)
        }
    }
}
