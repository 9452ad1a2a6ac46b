// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOEmbedded
internal import NIOHPACK
internal import NIOHTTP2
internal import PintleFuzzing
internal import PintleMessage
internal import PintleProxy
internal import PintleSession

/// Fuzzes an HTTP/2 client's connection: SwiftNIO's codec reads it after `HTTP2HeadFrames`, whole and in pieces, and each
/// header section becomes one HTTP/1.1 head with the same meaning. The first byte chooses the state of the connection, and
/// whether it begins after the preface.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP2(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let selector = bytes.first else { return 0 }
    let greeting =
        selector & 1 == 0 ? Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0] : []
    let body = Array(bytes.dropFirst())
    let places: [HTTP2RequestHead.Place] = [
        .tunnel(.https), .tunnel(.http), .listener(serverName: "a.test", port: 443),
        .listener(serverName: nil, port: 1),
    ]
    let place = places[Int(selector >> 1 & 3)]
    let whole = sections(of: [greeting + body])
    hold(whole == sections(of: [greeting] + body.pieces), "a connection in pieces has the sections of the whole")
    for section in whole { check(section, place) }
    return 0
}

/// A header section, and true if it ends its stream.
private struct Section: Equatable {
    let fields: [Field]
    let endsStream: Bool

    var headers: HPACKHeaders { HPACKHeaders(self.fields.map { ($0.name, $0.value) }) }
}

private struct Field: Equatable {
    let name: String
    let value: String
}

private final class Collector: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload

    private let collect: (Section) -> Void

    init(_ collect: @escaping (Section) -> Void) { self.collect = collect }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .headers(let headers) = self.unwrapInboundIn(data) else { return }
        let fields = headers.headers.map { Field(name: $0.name, value: $0.value) }
        self.collect(Section(fields: fields, endsStream: headers.endStream))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}

private final class Sections: @unchecked Sendable {
    // Why @unchecked holds: an embedded channel calls everything on the only thread.
    var all: [Section] = []
}

private final class Unwatched: HTTP2FrameWatcher {
    func admits(_ frame: HTTP2FrameHead, content: Int) -> Bool { true }

    func sectionEnded() {}
}

private func sections(of pieces: [[UInt8]]) -> [Section] {
    let (channel, found) = (EmbeddedChannel(), Sections())
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [
        HTTP2Setting(parameter: .headerTableSize, value: HTTP2HeadFrames.decoderTable),
        HTTP2Setting(parameter: .maxHeaderListSize, value: HTTP2HeadFrames.decoderLimit(for: 16 * 1024)),
        HTTP2Setting(parameter: .maxConcurrentStreams, value: 256),
        HTTP2Setting(parameter: .enableConnectProtocol, value: 1),
    ]
    let handler = NIOHTTP2Handler(mode: .server, eventLoop: channel.eventLoop, connectionConfiguration: configuration) {
        stream in
        stream.eventLoop.makeCompletedFuture {
            try stream.pipeline.syncOperations.addHandler(Collector { found.all.append($0) })
        }
    }
    let frames = HTTP2HeadFrames(.server, limit: 16 * 1024, watcher: Unwatched())
    guard (try? channel.pipeline.syncOperations.addHandlers([frames, handler])) != nil,
        (try? channel.connect(to: SocketAddress(unixDomainSocketPath: "/fuzz")).wait()) != nil
    else { fatalError("does not hold: there is a channel") }
    for piece in pieces where !piece.isEmpty {
        // An error is a verdict like any other, and a stream error does not end the connection.
        _ = try? channel.writeInbound(ByteBuffer(bytes: piece))
        while (try? channel.readOutbound(as: IOData.self)) ?? nil != nil {}
    }
    _ = try? channel.finish(acceptAlreadyClosed: true)
    return found.all
}

private func check(_ section: Section, _ place: HTTP2RequestHead.Place) {
    let limits = HeadLimits(bytes: 8192, line: 4096, count: 64)
    let headers = section.headers
    _ = outcome { () throws(WireError) in try HTTP2RequestHead.trailers(headers, within: limits) }
    let made = outcome { () throws(WireError) in
        try HTTP2RequestHead(headers, endsStream: section.endsStream, at: place, within: limits)
    }
    guard case .success(let request) = made else { return }
    let head = request.head
    var isWebSocket = false
    if case .webSocket = request.kind { isWebSocket = true }
    hold(head.method == (isWebSocket ? "GET" : headers.first(name: ":method")), "the method is the client's")
    hold(head.fields.values(of: "Host").count == 1, "there is one Host")
    hold(!head.fields.contains(.transferEncoding), "no coding has come in")
    hold(isWebSocket || !head.fields.contains(.connection), "nothing of a connection has come in")
    if let path = headers.first(name: ":path"), let target = head.target.path {
        hold(target == path, "the path is the client's: \(target), not \(path)")
    }
    // Each field is in the head once, in order, and there are no others.
    let dropped: Set<String> = ["host", "cookie", "sec-websocket-key"]
    let sent = section.fields.filter { !$0.name.hasPrefix(":") && !dropped.contains($0.name) }
    let own: Set<String> = isWebSocket ? ["connection", "upgrade"] : []
    var lines: [Field] = []
    head.fields.forEachLine { _, line in
        let text = String(latin1: line)
        let name = text.prefix { $0 != ":" }
        lines.append(Field(name: String(name), value: String(text.dropFirst(name.count + 2))))
    }
    let kept = lines.filter {
        !dropped.contains($0.name) && !own.contains($0.name)
            && !(isWebSocket && $0.name == "sec-websocket-version" && headers.first(name: $0.name) == nil)
    }
    let isKeySent = !isWebSocket && headers.first(name: "sec-websocket-key") != nil
    hold(isKeySent || kept == sent, "the fields are the client's: \(kept), not \(sent)")
    for (name, value) in head.fields.pairs {
        hold(!(name + value).utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 }, "no field ends a line")
    }
}
