// SPDX-License-Identifier: Apache-2.0

/// The setting for content codings of responses: gzip, deflate, br and zstd are decoded or not (RFC 9110 §8.4).
///
/// If ``on``, a request without Accept-Encoding asks for all four codings, and a body in any of them is decoded piece
/// by piece, whatever was asked for. The response's head then has no Content-Encoding, no Content-Length and no digest
/// of the encoded bytes; ``TaskResult/contentCodings`` lists the codings that were removed. The length of such a body
/// is unknown before its end, so ``SessionResponse/length`` and ``TaskProgress/expectedToReceive`` are nil, and
/// ``TaskProgress/received`` counts decoded bytes.
///
/// Responses to HEAD, parts of a body (206), and bodies in an unknown coding are never decoded: they come as they were
/// sent, with their Content-Encoding. No coding is asked for with HEAD or Range, nor by downloads and operations that
/// may be continued later: the missing bytes of an encoded body cannot be requested.
public struct Decompression: Sendable, Hashable {
    /// Bodies come as they were sent, and no coding is asked for.
    public static let off = Decompression(isOn: false, limit: 0, ratio: 1)
    /// Bodies are decoded, up to the default limits.
    public static let on = Decompression.on(limit: 16 << 30, ratio: 250)

    /// Bodies are decoded, up to these limits.
    ///
    /// A body beyond a limit fails as ``SessionError/Code/tooLarge``. Limits of the receiver, such as
    /// ``SessionConfiguration/bodyLimit``, count decoded bytes too.
    ///
    /// - Parameters:
    ///   - limit: the highest number of bytes of a decoded body. Default 16 GiB.
    ///   - ratio: the limit of decoded size by encoded size, beyond 8 MiB, 1…1,000,000. Default 250: text hardly reaches
    ///     50, and bodies that are made to fill memory or disks begin at 1,000.
    public static func on(limit: Int = 16 << 30, ratio: Int = 250) -> Decompression {
        Decompression(isOn: true, limit: max(0, limit), ratio: min(max(1, ratio), 1_000_000))
    }

    let isOn: Bool
    let limit: Int
    let ratio: Int

    /// The size to which any body may be decoded, whatever the ratio.
    static let freeBytes = 8 << 20
}
