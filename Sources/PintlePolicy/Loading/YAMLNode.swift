// SPDX-License-Identifier: Apache-2.0

/// A node of a YAML document. An alias is the node that it stands for; both share their members.
struct YAMLNode: Sendable {
    /// A scalar: its text, whatever it looks like, and its style.
    struct Scalar: Sendable {
        let string: String
        /// True if its text says of which type it is: it stands neither in quotes nor in a block, unless a tag says otherwise.
        let isPlain: Bool
    }

    typealias Entry = (key: YAMLNode, value: YAMLNode)

    enum Content: Sendable {
        case scalar(Scalar)
        case sequence([YAMLNode])
        /// The entries in the order of the file. No two keys have the same text.
        case mapping([Entry])
    }

    /// The size of a walk through a node.
    struct Extent: Sendable {
        /// The number of nodes, its own among them; an alias counts as all the nodes that it stands for.
        private(set) var nodes = 1
        /// The number of levels below the node.
        private(set) var levels = 0

        /// Adds the walk through a member.
        ///
        /// - Throws: `tooMuch` if there are more nodes than `YAMLDocument.nodeLimit`.
        mutating func add(_ member: Extent) throws(YAMLFault) {
            self.nodes += member.nodes
            self.levels = max(self.levels, member.levels + 1)
            guard self.nodes <= YAMLDocument.nodeLimit else { throw .tooMuch }
        }
    }

    let content: Content
    /// The place of the first character; for an alias, that of the node that it stands for.
    let position: SourcePosition
    let extent: Extent
}

/// A reason why a text cannot be composed.
enum YAMLFault: Error {
    /// A sentence of libyaml, and the place where the parser was.
    case syntax(String, SourcePosition)
    /// A sentence of libyaml about a character, and the number of bytes before it.
    case character(String, offset: Int)
    /// Keys that a map has several times, sorted, and the first place of the first of them.
    case repeatedKeys([String], SourcePosition)
    /// A tag that would change the meaning of its node, in short: `!!binary`, `!secret`.
    case tag(String, SourcePosition)
    /// The limits of `YAMLDocument` are exceeded.
    case tooMuch
    case outOfMemory
}
