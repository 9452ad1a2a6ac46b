// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleMessage
import PintleTesting
import PintleWebSocket
import Testing

/// A browser at the other end: it compresses, and it is strict about received frames.
struct BrowserTests {
    private static let browser = "/usr/bin/chromium"

    /// Sends messages of each size and kind, compares the echoes, closes, and reports the result.
    private static let page = """
        <script>
        const sizes = [0, 1, 125, 126, 1000, 65535, 65536, 1 << 20];
        const text = n => "hinge é ".repeat(n / 9 + 1).slice(0, n);
        const bytes = n => new Uint8Array(n).map((_, i) => i * 7);
        const sent = sizes.map(text).concat(sizes.map(bytes));
        const tell = what => fetch("/result", {method: "POST", body: what});
        const socket = new WebSocket("ws://" + location.host + "/socket", ["other", "echo"]);
        socket.binaryType = "arraybuffer";
        let count = 0, wrong = 0;
        socket.onopen = () => sent.forEach(message => socket.send(message));
        socket.onmessage = event => {
          const [wanted, got] = [sent[count], event.data];
          const isSame = typeof wanted == "string" ? wanted == got
            : wanted.length == got.byteLength && new Uint8Array(got).every((byte, i) => byte == wanted[i]);
          if (!isSame) wrong += 1;
          count += 1;
          if (count == sent.length) socket.close(4001, "done");
        };
        socket.onclose = event => tell([count, wrong, socket.protocol, socket.extensions, event.code, event.wasClean].join(" "));
        </script>
        """

    @Test(.enabled(if: access(browser, X_OK) == 0, "Chromium is not installed"))
    func `a browser gets every message back, compressed, and closes`() throws {
        let (closed, result) = (Watched<WebSocketClose?>(nil), Watched<String?>(nil))
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.stream.readRequest()
                let target = request.head.startLine.split(separator: " ")[1]
                if target == "/socket" { return try Self.echo(connection, request, closed) }
                if target == "/result" { result.change { $0 = request.text } }
                let body = target == "/" ? Self.page : ""
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let folder = try TemporaryFolder()
        let browser = try ChildProcess(
            Self.browser,
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                "--disable-dev-shm-usage", "--user-data-dir=\(folder.path)", "http://127.0.0.1:\(origin.port)/",
            ])
        defer {
            browser.signal(SIGTERM)
            _ = try? browser.waitForExit()
        }
        let told = try result.wait(for: "the page's result") { $0 != nil }
        #expect(told == "16 0 echo permessage-deflate 4001 true")
        #expect(closed.current?.code.rawValue == 4001 && closed.current?.reason == "done")
    }

    /// Serves one connection until it is closed.
    private static func echo(
        _ connection: RawOrigin.Connection, _ request: Message, _ closed: Watched<WebSocketClose?>
    ) throws {
        var fields = Fields()
        for field in request.head.fields { fields.append(field.name, field.value) }
        let handshake = ServerHandshake(protocols: ["echo"], compression: WebSocketCompression())
        let (head, agreement) = try handshake.answer(
            to: RequestHead(method: "GET", target: .origin(path: "/socket"), fields: fields))
        let lines = head.fields.pairs.map { "\($0): \($1)\r\n" }.joined()
        try connection.send("HTTP/1.1 \(head.status) \(head.reason)\r\n\(lines)\r\n")

        var machine = WebSocketMachine(role: .server, compression: agreement.compression)
        var (input, output) = (ByteBuffer(), ByteBuffer())
        while let piece = try connection.stream.readSome() {
            input.writeBytes(piece)
            let events = machine.receive(&input, answeringInto: &output)
            for case .message(let message) in events { machine.write(message, into: &output) }
            try connection.stream.send(Array(output.readableBytesView))
            output.clear()
            for case .close(let close) in events { return closed.change { $0 = close } }
        }
    }
}
