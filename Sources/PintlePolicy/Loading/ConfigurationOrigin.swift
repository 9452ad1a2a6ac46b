// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The source of the configuration in use.
package enum ConfigurationOrigin: Sendable, Equatable, CustomStringConvertible {
    /// `-c` or `--config`.
    case flag(String)
    /// `$PINTLE_CONFIG`.
    case environment(String)
    /// `./pintle.yaml`.
    case workingDirectory(String)
    /// `pintle/pintle.yaml` below `$XDG_CONFIG_HOME` or `~/.config`.
    case user(String)
    /// No file: ``Configuration/init()``.
    case embedded

    /// The first of these sources that is given or exists.
    ///
    /// Does not check if a file that was asked for exists: if it is missing, loading reports that instead of using another.
    package static func locate(flag: String?, surroundings: LoaderEnvironment) -> ConfigurationOrigin {
        if let flag { return .flag(flag) }
        if let path = surroundings.variable("PINTLE_CONFIG") { return .environment(path) }
        let name = UserFile.configuration.name
        if surroundings.exists(name) { return .workingDirectory(name) }
        if let path = UserFile.configuration.path(in: surroundings.environment), surroundings.exists(path) {
            return .user(path)
        }
        return .embedded
    }

    /// The file's path, or nil for the embedded default.
    package var path: String? {
        switch self {
        case .flag(let path), .environment(let path), .workingDirectory(let path), .user(let path): path
        case .embedded: nil
        }
    }

    /// The text that is printed at the start: the path and, if it is not obvious, the source of the path.
    package var description: String {
        switch self {
        case .flag(let path): path
        case .environment(let path): "\(path) ($PINTLE_CONFIG)"
        case .workingDirectory(let path): path
        case .user(let path): path
        case .embedded: "embedded default"
        }
    }
}

extension LoaderEnvironment {
    /// The value of a variable that is set and not empty.
    fileprivate func variable(_ name: String) -> String? {
        self.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
