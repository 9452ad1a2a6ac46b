// SPDX-License-Identifier: Apache-2.0

/// The folder for files of running proxies and audits that outlive them or that other processes must find:
/// `$XDG_STATE_HOME/pintle`, else `~/.local/state/pintle`.
enum StateFolder {
    /// The path of the folder, which may not exist; nil if the environment names none.
    static var path: String? { UserFolder.path("XDG_STATE_HOME", else: ".local/state") }

    /// The folder of the control sockets of running proxies, one for each process: `run/PID.sock`.
    static var sockets: String? { self.path.map { $0 + "/run" } }
}

/// The folders of a user, by the XDG Base Directory Specification.
enum UserFolder {
    /// Returns Pintle's subfolder of one of them; nil if the environment names neither it nor a home.
    static func path(_ variable: String, else fallback: String) -> String? {
        let environment = Inherited.environment
        // By the specification, a relative path is ignored.
        if let folder = environment[variable], folder.hasPrefix("/") { return folder + "/pintle" }
        return environment["HOME"].flatMap { $0.isEmpty ? nil : "\($0)/\(fallback)/pintle" }
    }
}
