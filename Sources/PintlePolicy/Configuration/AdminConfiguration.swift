// SPDX-License-Identifier: Apache-2.0

/// The endpoint for operators.
package struct AdminConfiguration: Sendable, Equatable {
    /// The place; nil for none. Default none: a file that opens a second door says so.
    package var place: ListenAddress?
    /// Names by which browsers and programs may address it, in addition to `localhost` and addresses of loopback; in lower case.
    package var hosts: [String] = []

    package init() {}

    /// Reads `127.0.0.1:3129` or `unix:PATH`.
    ///
    /// - Parameter resolve: turns a path as written into one that the process can open.
    package static func place(
        _ text: String, resolving resolve: (String) -> String = { $0 }
    ) throws(Malformed) -> ListenAddress {
        let place = try ListenAddress(text, resolving: resolve)
        guard place.use == .proxy else {
            throw Malformed("the admin endpoint speaks plain HTTP; write ADDRESS:PORT or unix:PATH")
        }
        return place
    }
}
