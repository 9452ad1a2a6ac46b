// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization

/// Measures conversions of a body between formats: from the bytes that arrive to the bytes that leave, as in a route with a
/// serializer.
///
/// It prints the shortest of many rounds, because other work on the machine only adds time. Words on the command line
/// choose the conversions that have one of them in their name; `write` alone prints the form in place of measuring.
@main struct FormBenchmark {
    private static let rounds = 3000
    private static let conversionsPerRound = 10

    static func main() throws {
        let form = Self.form(of: 2048)
        if CommandLine.arguments.dropFirst().elementsEqual(["write"]) {
            print(String(decoding: form, as: UTF8.self), terminator: "")
            return
        }
        let head = RequestHead(
            method: "POST", target: .origin(path: "/"), fields: ["Content-Type": "application/x-www-form-urlencoded"])
        let route: Parameter = ["source": "pintle", "version": 2]
        print("\(Self.column("conversion", 34))\(Self.column("bytes in", 10))\(Self.column("µs", 9))MB/s")

        try Self.measure("form → parameters", form) { _ = try IncomingParameters.read(head, body: form) }
        try Self.measure("form → JSON", form) { _ = try Self.convert(head, form, nil, JSONRequestSerializer()) }
        try Self.measure("form + 2 of the route → JSON", form) {
            _ = try Self.convert(head, form, route, JSONRequestSerializer())
        }
        try Self.measure("form → form", form) { _ = try Self.convert(head, form, nil, HTTPRequestSerializer()) }
        try Self.measure("form → multipart", form) {
            _ = try Self.convert(head, form, nil, MultipartRequestSerializer())
        }

        let json = try Self.convert(head, form, nil, JSONRequestSerializer())
        let document = json.body ?? []
        try Self.measure("JSON → form", document) {
            _ = try Self.convert(json.head, document, nil, HTTPRequestSerializer())
        }
        let multipart = try Self.convert(head, form, nil, MultipartRequestSerializer())
        let parts = multipart.body ?? []
        try Self.measure("multipart → JSON", parts) {
            _ = try Self.convert(multipart.head, parts, nil, JSONRequestSerializer())
        }
    }

    private static func convert(
        _ head: RequestHead, _ body: [UInt8], _ route: Parameter?, _ serializer: some RequestSerializer
    ) throws -> SerializedRequest {
        let parameters = try IncomingParameters.merge(try IncomingParameters.read(head, body: body), with: route)
        return try serializer.serialize(IncomingParameters.headForNewBody(head), parameters: parameters)
    }

    private static func measure(_ name: String, _ body: [UInt8], _ work: () throws -> Void) rethrows {
        let words = CommandLine.arguments.dropFirst()
        guard words.isEmpty || words.contains(where: { name.contains($0) }) else { return }
        let clock = ContinuousClock()
        var best = Duration.seconds(3600)
        for _ in 0..<Self.rounds {
            let duration = try clock.measure { for _ in 0..<Self.conversionsPerRound { try work() } }
            best = min(best, duration)
        }
        let microseconds = best / .microseconds(1) / Double(Self.conversionsPerRound)
        let rate = Double(body.count) / microseconds
        print(
            Self.column(name, 34) + Self.column("\(body.count)", 10)
                + Self.column("\((microseconds * 100).rounded() / 100)", 9) + "\(Int(rate.rounded()))")
    }

    private static func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    /// A form as a shop's page sends it: plain fields, nested ones, lists, escapes and some letters beyond ASCII.
    private static func form(of count: Int) -> [UInt8] {
        var pairs = [
            "csrf_token=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA%3D%3D", "customer%5Bname%5D=J%C3%BCrgen+Gro%C3%9Fmann",
            "customer%5Bemail%5D=juergen.grossmann%40example.com", "customer%5Bphone%5D=%2B49+30+901820",
            "address%5Bstreet%5D=Unter+den+Linden+77", "address%5Bpostal_code%5D=10117", "address%5Bcity%5D=Berlin",
            "tags%5B%5D=gift", "tags%5B%5D=express", "newsletter=on", "comment=",
            "redirect=%2Fcheckout%2Fdone%3Fstep%3D3",
        ]
        var index = 0
        while pairs.joined(separator: "&").utf8.count < count - 40 {
            pairs.append("items%5B%5D%5Bsku%5D=SKU-\(10_000 + index)")
            pairs.append("items%5B%5D%5Bquantity%5D=\(index % 7 + 1)")
            pairs.append("field_\(index)=some+ordinary+text+of+a+field")
            index += 1
        }
        var form = Array(pairs.joined(separator: "&").utf8.prefix(count))
        // A truncated escape would not be a valid form.
        while let last = form.lastIndex(of: UInt8(ascii: "%")), last > form.count - 3 { form.removeLast() }
        return form
    }
}
