// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// The only target of the developer tools: the running proxy. Told in the form of Chromium's own endpoint (`/json/list`).
struct DevToolsTarget {
    private let program: String
    private let title: String
    private let socket: String
    private let page: String

    /// - Parameter host: the name and port by which the client knows the endpoint.
    init(_ program: any AdminProgram, _ credentials: AdminCredentials, asked host: String) {
        self.program = "Pintle/\(program.version)"
        self.title = "pintle, \(program.status)"
        self.socket = "\(host)/devtools/page/\(credentials.devTools)"
        self.page = "http://\(host)/"
    }

    var list: [UInt8] {
        JSONText.value(
            .array([
                .object([
                    ("id", "pintle"), ("type", "page"), ("title", .string(self.title)),
                    ("description", "requests of the proxy's clients, as they end"), ("url", .string(self.page)),
                    // Without the view of a page, which Chromium's `inspector.html` has.
                    (
                        "devtoolsFrontendUrl",
                        .string("devtools://devtools/bundled/devtools_app.html?ws=\(self.socket)&panel=network")
                    ), ("webSocketDebuggerUrl", .string("ws://\(self.socket)")),
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
