// SPDX-License-Identifier: Apache-2.0

/// Where running proxies and audits keep what outlives them or what others must find: `$XDG_STATE_HOME/pintle`, else
/// `~/.local/state/pintle`.
enum StateFolder {
    /// The folder, which may not be there; nil where the environment names none.
    static var path: String? { UserFolder.path("XDG_STATE_HOME", else: ".local/state") }

    /// The control sockets of running proxies, one for each process: `run/PID.sock`.
    static var sockets: String? { self.path.map { $0 + "/run" } }
}

/// The folders of a user, as the XDG Base Directory Specification has them.
enum UserFolder {
    /// Pintle's part of one of them; nil where the environment names neither it nor a home.
    static func path(_ variable: String, else fallback: String) -> String? {
        let environment = Inherited.environment
        // The specification wants a relative path ignored.
        if let folder = environment[variable], folder.hasPrefix("/") { return folder + "/pintle" }
        return environment["HOME"].flatMap { $0.isEmpty ? nil : "\($0)/\(fallback)/pintle" }
    }
}
