// SPDX-License-Identifier: Apache-2.0

/// The pages of the doctor's origin: for each program the least that lets its request succeed.
enum DoctorPages {
    struct Page {
        let type: String
        let text: String

        init(_ type: String, _ text: String) { (self.type, self.text) = (type, text) }
    }

    /// The name of the origin, which no resolver knows (RFC 6761 §6.2), so it can be reached only through the proxy.
    static let host = "pintle.test"

    /// - Parameters:
    ///   - path: the path of the request, without a query.
    ///   - origin: the origin as clients name it.
    static func page(_ path: String, of origin: String) -> Page? {
        switch path {
        case "/page": Page("text/plain", "the page\n")
        case "/requirements.txt": Page("text/plain", "# nothing\n")
        case "/git/info/refs": Page("text/plain", "\(String(repeating: "0123456789", count: 4))\trefs/heads/main\n")
        case "/git/HEAD": Page("text/plain", "ref: refs/heads/main\n")
        case "/npm/pintle-probe":
            Page(
                "application/json",
                """
                {"name":"pintle-probe","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"pintle-probe",\
                "version":"1.0.0","dist":{"tarball":"\(origin)/npm/probe.tgz","shasum":"\
                \(String(repeating: "0", count: 40))"}}}}
                """)
        case "/cargo/config.json": Page("application/json", #"{"dl":"\#(origin)/cargo/dl","api":"\#(origin)/cargo"}"#)
        case "/cargo/api/v1/crates": Page("application/json", #"{"crates":[],"meta":{"total":0}}"#)
        case "/go/pintle.test/probe/@v/list": Page("text/plain", "v1.0.0\n")
        case "/go/pintle.test/probe/@v/v1.0.0.info", "/go/pintle.test/probe/@latest":
            Page("application/json", #"{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}"#)
        case "/go/pintle.test/probe/@v/v1.0.0.mod": Page("text/plain", "module pintle.test/probe\n")
        case "/apt/Packages": Page("text/plain", "")
        default: nil
        }
    }
}
