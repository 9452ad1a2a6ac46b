// SPDX-License-Identifier: Apache-2.0

internal import CPintlePage

/// The files of the page, which are in the program.
enum PageFiles {
    /// The page, or for clients that are not signed in the form in its place.
    static func page(isSignedIn: Bool) -> AdminReply {
        guard let file = Self.file(isSignedIn ? "index.html" : "signin.html") else {
            preconditionFailure("BUG: the program has no page")
        }
        return AdminReply(isSignedIn ? 200 : 401, file.type, file.bytes)
    }

    static func asset(_ name: String) throws(AdminGate.Refusal) -> AdminReply {
        guard name != "index.html", name != "signin.html", let file = Self.file(name) else {
            throw AdminGate.Refusal(status: 404, title: "No such file", detail: "the page has no file \(name)")
        }
        return AdminReply(200, file.type, file.bytes)
    }

    private static func file(_ name: String) -> (type: String, bytes: [UInt8])? {
        for index in 0..<pintle_page_file_count() {
            guard let file = pintle_page_file(index)?.pointee, String(cString: file.name) == name else { continue }
            let bytes = UnsafeBufferPointer(start: file.bytes, count: file.length)
            return (String(cString: file.type), Array(bytes))
        }
        return nil
    }
}
