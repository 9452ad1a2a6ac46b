// SPDX-License-Identifier: Apache-2.0

/// Something that can tell whether bytes are an image. The one that Pintle has is in a room of its own, because it needs
/// a library of the system.
public protocol ImageChecking: Sendable, Equatable {
    /// Decodes an image.
    ///
    /// - Returns: its size.
    /// - Throws: why the bytes are no image that is accepted.
    func check(_ bytes: [UInt8]) throws(ImageError) -> ImageSize
}

/// A decoder whose work can be bounded, and given up.
package protocol MeteredImageChecking: ImageChecking {
    /// Decodes an image as far as `budget` lets it. After an interruption neither result nor error means anything.
    func check(_ bytes: [UInt8], within budget: WorkBudget) throws(ImageError) -> ImageSize
}

/// The size of an image in pixels.
public struct ImageSize: Sendable, Hashable {
    /// From left to right.
    public let width: Int
    /// From top to bottom.
    public let height: Int

    /// Makes a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// Why there is no image.
public struct ImageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// Images cannot be decoded on this system: a library is missing.
        case unavailable
        /// The bytes are no image of a known format, or a broken one.
        case undecodable
        /// The image has more pixels than are accepted.
        case tooLarge = "too-large"
    }

    /// What kind of failure it is.
    public let code: Code
    /// One sentence for people.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { self.message }
}

extension ResponseContract {
    /// The rule that a body is an image.
    public struct ImageRule: Sendable, Equatable {
        /// What decodes it.
        public let checker: any ImageChecking

        /// Makes a rule.
        public init(_ checker: some ImageChecking) { self.checker = checker }

        /// Two rules are equal when their checkers are.
        public static func == (left: ImageRule, right: ImageRule) -> Bool { left.checker.equals(right.checker) }
    }
}

extension ImageChecking {
    fileprivate func equals(_ other: any ImageChecking) -> Bool { other as? Self == self }

    func checked(_ body: [UInt8], within budget: WorkBudget = .unlimited) throws(BodyProblem) -> ImageSize {
        do throws(ImageError) {
            guard let metered = self as? any MeteredImageChecking else { return try self.check(body) }
            return try metered.check(body, within: budget)
        } catch {
            throw BodyProblem("invalid image: \(error)")
        }
    }
}
