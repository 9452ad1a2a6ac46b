// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// The only target of the developer tools: the running proxy. Told in the form of Chromium's own endpoint (`/json/list`).
struct DevToolsTarget {
    private let program: String
    private let title: String
    private let socket: String
    private let link: String
    private let page: String

    /// - Parameter host: the name and port by which the client knows the endpoint.
    init(_ program: any AdminProgram, _ credentials: AdminCredentials, asked host: String) {
        self.program = "Pintle/\(program.version)"
        self.title = "pintle, \(program.status)"
        self.socket = "\(host)\(credentials.devToolsPath)"
        self.link = credentials.devToolsLink(host: host)
        self.page = "http://\(host)/"
    }

    var list: [UInt8] {
        JSONText.value(
            .array([
                .object([
                    ("id", "pintle"), ("type", "page"), ("title", .string(self.title)),
                    ("description", "requests of the proxy's clients, as they end"), ("url", .string(self.page)),
                    ("devtoolsFrontendUrl", .string(self.link)),
                    ("webSocketDebuggerUrl", .string("ws://\(self.socket)")),
                ])
            ]))
    }

    var version: [UInt8] {
        JSONText.value(
            .object([
                ("Browser", .string(self.program)), ("Protocol-Version", .string(DevToolsSession.version)),
                ("User-Agent", .string(self.program)), ("webSocketDebuggerUrl", .string("ws://\(self.socket)")),
            ]))
    }
}
