// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import PintleMessage

/// One connection of an origin: reads a request, answers it, and continues with the next.
struct ScriptedOriginConnection: Sendable {
    /// The longest body that a request may have, in bytes.
    private static let mostBodyBytes = 64 << 20

    /// A request whose body is not complete yet.
    private struct Draft {
        let head: HTTPRequestHead
        let fields: Fields
        var body = ByteBuffer()

        init(_ head: HTTPRequestHead) {
            self.head = head
            var fields = Fields()
            for (name, value) in head.headers { fields.append(name, value) }
            self.fields = fields
        }

        /// True if the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1); HTTP/1.0 clients do
        /// not.
        var isAwaited: Bool {
            self.head.version != .http1_0 && self.fields.hasToken("100-continue", in: .expect)
        }
    }

    let core: ScriptedOriginCore
    let number: Int
    let channel: any Channel

    func run(_ stream: NIOAsyncChannel<HTTPServerRequestPart, Never>) async {
        // Errors of the connection are ignored: the test sees them at the client.
        try? await stream.executeThenClose { inbound in
            do {
                try await self.serve(inbound)
            } catch let error as HTTPParserError {
                try await self.refuse(400, "This is no request of HTTP/1.1: \(error)\n")
            }
        }
    }

    private func serve(_ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>) async throws {
        var draft: Draft?
        var count = 0
        for try await part in inbound {
            switch part {
            case .head(let head):
                let begun = Draft(head)
                if begun.isAwaited { try await self.send(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")) }
                draft = begun
            case .body(var bytes):
                draft?.body.writeBuffer(&bytes)
                guard (draft?.body.readableBytes ?? 0) <= Self.mostBodyBytes else {
                    return try await self.refuse(413, "The body is longer than \(Self.mostBodyBytes) bytes.\n")
                }
            case .end:
                guard let complete = draft else { continue }
                draft = nil
                count += 1
                guard try await self.answer(complete, count) else { return }
            }
        }
    }

    private func refuse(_ status: Int, _ text: String) async throws {
        var sender = ScriptedOriginSender(channel: self.channel, isHead: false, isOldVersion: false, isKeptAlive: false)
        _ = try await sender.perform(.text(text, status: status))
    }

    /// - Returns: true if the connection stays open.
    private func answer(_ draft: Draft, _ count: Int) async throws -> Bool {
        let request = ScriptedOrigin.Request(
            method: draft.head.method.rawValue, target: draft.head.uri, fields: draft.fields,
            body: Array(draft.body.readableBytesView), connection: self.number, numberOnConnection: count)
        self.core.record(request)
        let sender = ScriptedOriginSender(
            channel: self.channel, isHead: request.method == "HEAD", isOldVersion: draft.head.version == .http1_0,
            isKeptAlive: draft.head.isKeepAlive)
        // A separate task, because the end of the connection must cancel the answer, but not the reading of requests that
        // have arrived.
        let work = Task {
            var sender = sender
            let answer: ScriptedOrigin.Answer
            do {
                answer = try await self.core.answer(request)
            } catch {
                answer = .text("The scripted answer to \(request) failed: \(error)\n", status: 500)
            }
            return try await sender.perform(answer)
        }
        self.channel.closeFuture.whenComplete { _ in work.cancel() }
        return try await work.value
    }

    private func send(_ bytes: ByteBuffer) async throws { try await self.channel.writeAndFlush(bytes).get() }
}
