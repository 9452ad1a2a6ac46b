// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintleSession
import PintleTesting

/// A forward proxy for tests: it leads every host to one port of this machine, and remembers its requests.
struct ScriptedProxy {
    let origin: RawOrigin

    /// - Parameters:
    ///   - port: the port of the origin of every host.
    ///   - authorization: the Proxy-Authorization that is demanded; nil admits all clients.
    ///   - offer: the Proxy-Authenticate that the proxy sends.
    init(
        leadingTo port: Int, demanding authorization: String? = nil, offering offer: String = "Basic realm=\"gate\""
    ) throws {
        self.origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                guard authorization == nil || request["Proxy-Authorization"] == authorization else {
                    try connection.send(answer(407, ["Proxy-Authenticate: \(offer)"], "who are you?"))
                    continue
                }
                if request.method == "CONNECT" {
                    try connection.send("HTTP/1.1 200 Connected\r\n\r\n")
                    return try Self.relay(connection.stream, SocketStream(port: port))
                }
                try connection.stream.send(Self.forward(request, to: port))
            }
        }
    }

    var server: ProxyServer { ProxyServer(self.authority) }
    var authority: Authority { Authority(host: "127.0.0.1", port: UInt16(self.origin.port)) }
    /// The request lines so far.
    var lines: [String] { self.origin.requests.map(\.head.startLine) }

    /// Makes the request again, in origin form, and returns the response's bytes as they came.
    private static func forward(_ request: Message, to port: Int) throws -> [UInt8] {
        let upstream = try SocketStream(port: port)
        let path = request.target.dropFirst("http://".count).drop { $0 != "/" }
        let fields = request.head.fields.filter { !$0.name.lowercased().hasPrefix("proxy-") }
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        try upstream.send("\(request.method) \(path) HTTP/1.1\r\n\(lines)\r\n")
        try upstream.send(request.body)
        _ = try upstream.readResponse(to: request.method)
        return upstream.received
    }

    private static func relay(_ client: SocketStream, _ upstream: SocketStream) throws {
        let isDone = Watched(false)
        Thread.detachNewThread {
            Self.copy(from: upstream, to: client)
            isDone.change { $0 = true }
        }
        Self.copy(from: client, to: upstream)
        try isDone.wait(for: "the tunnel's other half to end") { $0 }
    }

    private static func copy(from source: SocketStream, to destination: SocketStream) {
        while let bytes = try? source.readSome(), (try? destination.send(bytes)) != nil {}
        destination.finishSending()
    }
}
