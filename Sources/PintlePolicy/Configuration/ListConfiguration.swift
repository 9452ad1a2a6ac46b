// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintleMessage

/// A list of hosts for rules about destinations (`lists.NAME`).
package struct ListConfiguration: Sendable, Equatable {
    /// The place of the text.
    package enum Source: Sendable, Equatable {
        /// A path, already relative to the process.
        case file(String)
        case remote(Remote)
    }

    /// A text that another machine keeps.
    package struct Remote: Sendable, Equatable {
        /// The scheme is https.
        package var url: HTTPURL
        /// The trust policy of the connection. Default nil: the one that names the host, else `trust.default`, else the system's
        /// trust.
        package var trust: Located<String>?
        /// The age at which the text is asked for again. Default 1 h.
        package var every: Duration = .seconds(3600)
        /// The longest time for one attempt. Default 10 s.
        package var timeout: Duration = .seconds(10)
        /// The time at which the server last sent or confirmed the text; nil before that.
        package var confirmed: Timestamp?

        init(url: HTTPURL) { self.url = url }
    }

    package let name: String
    /// The place of the entry in the file.
    package let position: SourcePosition
    package var source: Source
    /// The entries; none for a text of another machine that was not fetched yet.
    package var hosts = HostList()

    init(name: String, position: SourcePosition, source: Source) {
        (self.name, self.position, self.source) = (name, position, source)
    }

    /// The text that another machine keeps; nil for a file.
    package var remote: Remote? { if case .remote(let remote) = self.source { remote } else { nil } }
}

extension Configuration {
    /// The entries of the lists, by their names.
    package var hostLists: [String: HostList] {
        Dictionary(self.lists.map { ($0.name, $0.hosts) }, uniquingKeysWith: { first, _ in first })
    }
}
