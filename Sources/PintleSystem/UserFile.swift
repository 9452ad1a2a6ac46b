// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A folder of a user by the XDG Base Directory Specification, by the variable that names it.
package enum UserFolder: String, CaseIterable, Sendable {
    case configuration = "XDG_CONFIG_HOME"
    case state = "XDG_STATE_HOME"
    case data = "XDG_DATA_HOME"

    /// The folder below the home, for an environment without the variable.
    package var fallback: String {
        switch self {
        case .configuration: ".config"
        case .state: ".local/state"
        case .data: ".local/share"
        }
    }

    /// Returns Pintle's part of the folder, which may not exist; nil if the environment names neither it nor a home.
    func path(in environment: [String: String]) -> String? {
        // By the specification, a relative path is ignored.
        if let folder = environment[self.rawValue], folder.hasPrefix("/") { return "\(folder)/pintle" }
        return environment["HOME"].flatMap { $0.isEmpty ? nil : "\($0)/\(self.fallback)/pintle" }
    }
}

/// A file or a folder that Pintle keeps for a user, by its path in Pintle's part of a ``UserFolder``.
///
/// The code takes its paths from here, and so does the reference (`pintle help files`): neither can have one more.
package enum UserFile: String, CaseIterable, Sendable {
    case configuration = "pintle.yaml"
    /// The control socket of a running proxy. `PID` is the number of its process.
    case socket = "run/PID.sock"
    /// The token of its admin endpoint.
    case token = "run/PID.token"
    case cache = "cache/"
    case lists = "lists/"
    /// The history of audits.
    case history = "audit.sqlite"
    /// The certificate of the user's authority.
    case certificate = "ca/ca.pem"
    /// Its private key.
    case key = "ca/ca.key"
    /// The files with which programs trust the authority.
    case trust = "trust/"

    /// Stands for the number of a process.
    private static let process = "PID"

    package var place: UserFolder {
        switch self {
        case .configuration: .configuration
        case .socket, .token, .cache, .lists, .history: .state
        case .certificate, .key, .trust: .data
        }
    }

    /// The path for people: `$XDG_STATE_HOME/pintle/run/PID.sock`.
    package var shown: String { "$\(self.place.rawValue)/pintle/\(self.rawValue)" }

    private var parts: [Substring] { self.rawValue.split(separator: "/") }

    /// The name without folders, of this process if it has a number of one.
    package var name: String { self.name(ofProcess: getpid()) }

    /// The name without folders, of a process.
    package func name(ofProcess number: Int32) -> String {
        (self.parts.last.map(String.init) ?? "").replacing(Self.process, with: "\(number)")
    }

    /// Returns the process of a name, such as `17.sock`; nil if the name is not of this kind.
    package func process(ofName name: String) -> Int32? {
        guard let form = self.parts.last, let number = form.firstRange(of: Self.process) else { return nil }
        let (start, end) = (String(form[..<number.lowerBound]), String(form[number.upperBound...]))
        guard name.hasPrefix(start), name.hasSuffix(end) else { return nil }
        return Int32(name.dropFirst(start.count).dropLast(end.count))
    }

    /// Returns the path of the folder that it stands in, which may not exist; nil if the environment names neither the folder
    /// of the user nor a home.
    package func folder(in environment: [String: String]) -> String? {
        self.place.path(in: environment).map { ([$0] + self.parts.dropLast().map(String.init)).joined(separator: "/") }
    }

    /// Returns the path, of this process if it has a number of one; nil as ``folder(in:)`` is.
    package func path(in environment: [String: String]) -> String? {
        self.folder(in: environment).map { "\($0)/\(self.name)" }
    }
}
