// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintleProxy

/// The memory of heads that come again.
struct RecurrentRequestsTests {
    private final class Memory {
        var requests = RecurrentRequests()
    }

    private let memory = Memory()

    private func spelled(_ path: String, fields: String = "") -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: a.test\r\n\(fields)\r\n".utf8)
    }

    private func request(_ path: String) -> ReceivedRequest {
        ReceivedRequest(RequestHead(method: "GET", target: .origin(path: path)), .none, isRecurrent: true)
    }

    /// Takes bytes as a connection does.
    private func take(_ bytes: [UInt8], _ request: @autoclosure () -> ReceivedRequest) -> ReceivedRequest? {
        bytes.withUnsafeBytes { bytes in
            guard let head = RecurrentRequests.Head(bytes) else { return nil }
            if let known = self.memory.requests.find(head, in: bytes) { return known }
            if self.memory.requests.note(head) { self.memory.requests.remember(request(), head, in: bytes) }
            return nil
        }
    }

    @Test func `a head is known from its third time on`() {
        let bytes = self.spelled("/a")
        let request = self.request("/a")
        #expect(self.take(bytes, request) == nil)
        #expect(self.take(bytes, request) == nil)
        #expect(self.take(bytes, request) === request)
    }

    @Test func `any other byte makes another head`() {
        let bytes = self.spelled("/a", fields: "Accept: */*\r\n")
        for _ in 0..<3 { _ = self.take(bytes, self.request("/a")) }
        for index in bytes.indices.dropLast(4) {
            var other = bytes
            other[index] ^= 0x20
            #expect(self.take(other, self.request("/b")) == nil, "\(index)")
        }
        for other in [self.spelled("/a"), self.spelled("/a", fields: "Accept: */* \r\n")] {
            #expect(self.take(other, self.request("/b")) == nil)
        }
        #expect(self.take(bytes, self.request("/b")) != nil)
    }

    @Test func `a head that is long is not looked for`() {
        self.spelled("/" + String(repeating: "a", count: 2048)).withUnsafeBytes {
            #expect(RecurrentRequests.Head($0) == nil)
        }
    }

    @Test func `memory is bounded, and what is used stays`() {
        let wanted = self.spelled("/wanted")
        let request = self.request("/wanted")
        for _ in 0..<2 { _ = self.take(wanted, request) }
        var kept: [() -> ReceivedRequest?] = []
        for number in 0..<5000 {
            let bytes = self.spelled("/\(number)", fields: "X: " + String(repeating: "x", count: 1500) + "\r\n")
            for _ in 0..<2 { _ = self.take(bytes, self.request("/\(number)")) }
            let weak = WeakRequest(self.find(bytes))
            kept.append { weak.request }
            if number % 50 == 0 { #expect(self.take(wanted, request) === request, "\(number)") }
        }
        let count = kept.count { $0() != nil }
        #expect(count > 100 && count < 1000, "\(count)")
    }

    private func find(_ bytes: [UInt8]) -> ReceivedRequest? {
        bytes.withUnsafeBytes { bytes in
            RecurrentRequests.Head(bytes).flatMap { self.memory.requests.find($0, in: bytes) }
        }
    }

    private final class WeakRequest {
        weak var request: ReceivedRequest?
        init(_ request: ReceivedRequest?) { self.request = request }
    }
}
