// SPDX-License-Identifier: Apache-2.0

/// Checks if bytes are an image. Pintle's own implementation is in another module, because it needs a system library.
public protocol ImageChecking: Sendable, Equatable {
    /// Decodes an image.
    ///
    /// - Returns: its size.
    /// - Throws: ``ImageError`` with the reason why the image is not accepted.
    func check(_ bytes: [UInt8]) throws(ImageError) -> ImageSize
}

/// An image check that can be bounded and interrupted.
package protocol MeteredImageChecking: ImageChecking {
    /// Decodes an image within `budget`. After an interruption, both result and error are meaningless.
    func check(_ bytes: [UInt8], within budget: WorkBudget) throws(ImageError) -> ImageSize
}

/// The size of an image in pixels.
public struct ImageSize: Sendable, Hashable {
    /// The number of pixels in a row.
    public let width: Int
    /// The number of rows.
    public let height: Int

    /// Makes a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// The reason why an image is not accepted.
public struct ImageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// Images cannot be decoded on this system: a library is missing.
        case unavailable
        /// The bytes are not an image of a known format, or are damaged.
        case undecodable
        /// The image has more pixels than are accepted.
        case tooLarge = "too-large"
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence for users.
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
    /// The rule for a body that is an image.
    public struct ImageRule: Sendable, Equatable {
        /// The decoder that checks the image.
        public let checker: any ImageChecking

        /// Makes a rule.
        public init(_ checker: some ImageChecking) { self.checker = checker }

        /// Two rules are equal if their checkers are.
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
