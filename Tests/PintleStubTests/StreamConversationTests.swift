// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintleStub

struct StreamConversationTests {
    private func echo(_ message: ArraySlice<UInt8>) -> [UInt8]? { message.isEmpty ? nil : Array(message) }

    @Test func `messages are answered in order, however their bytes come`() {
        let bytes: [UInt8] = [0, 2, 1, 2, 0, 0, 0, 1, 3]
        for size in 1...bytes.count {
            var conversation = StreamConversation()
            for start in stride(from: 0, to: bytes.count, by: size) {
                let isFine = conversation.receive(bytes[start...].prefix(size), answer: self.echo)
                #expect(isFine)
            }
            #expect(conversation.output == [0, 2, 1, 2, 0, 1, 3])
            conversation.sent(4)
            #expect(conversation.output == [0, 1, 3])
        }
    }

    @Test func `a message that is too long ends the connection`() {
        for (size, isExpected) in [(2048, true), (2049, false)] {
            var conversation = StreamConversation()
            let isFine = conversation.receive([UInt8(size >> 8), UInt8(size & 0xFF)], answer: self.echo)
            #expect(isFine == isExpected)
        }
    }
}
