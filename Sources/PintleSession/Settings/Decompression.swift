// SPDX-License-Identifier: Apache-2.0

/// Tells whether the content codings of responses are undone: gzip, deflate, br and zstd (RFC 9110 §8.4).
///
/// Where it is ``on``, a request that has no Accept-Encoding asks for all four, and a body that comes in some of them is
/// decoded piece by piece, whatever was asked for. The head that a program gets then has no Content-Encoding, no
/// Content-Length and no digest of what was sent; ``TaskResult/contentCodings`` says what was undone. Nobody knows
/// the length of such a body before its end, so ``SessionResponse/length`` and
/// ``TaskProgress/expectedToReceive`` are nil, and ``TaskProgress/received`` counts decoded bytes.
///
/// Never decoded are answers to HEAD, parts of a body (206), and bodies in a coding that is unknown: they come as they
/// were sent, with their Content-Encoding. No coding is asked for with HEAD or Range, nor by downloads and operations that
/// could go on later: the bytes that are missing of a coded body cannot be asked for.
public struct Decompression: Sendable, Hashable {
    /// Bodies come as they were sent, and nothing is asked for.
    public static let off = Decompression(isOn: false, limit: 0, ratio: 1)
    /// Bodies come without their codings, up to the default limits.
    public static let on = Decompression.on(limit: 16 << 30, ratio: 250)

    /// Bodies come without their codings.
    ///
    /// A body beyond a limit fails as ``SessionError/Code/tooLarge``. The limits of whoever takes it, such as
    /// ``SessionConfiguration/bodyLimit``, count decoded bytes, too.
    ///
    /// - Parameters:
    ///   - limit: the most bytes of a decoded body. Default 16 GiB.
    ///   - ratio: how many times its size a body may unfold to beyond 8 MiB, 1…1,000,000. Default 250: text hardly
    ///     reaches 50, and bodies that are made to fill memory or disks begin at 1,000.
    public static func on(limit: Int = 16 << 30, ratio: Int = 250) -> Decompression {
        Decompression(isOn: true, limit: max(0, limit), ratio: min(max(1, ratio), 1_000_000))
    }

    let isOn: Bool
    let limit: Int
    let ratio: Int

    /// How much any body may unfold to.
    static let freeBytes = 8 << 20
}
