// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PintleMessage
internal import PintleSystem

/// One authentication by Kerberos (RFC 4559), with the tickets of this process's user (kinit).
///
/// Credentials are not delegated, and the server does not authenticate itself here: TLS does that.
// Why @unchecked holds: it belongs to one task, which waits for each step before it asks for the next one.
final class NegotiateContext: @unchecked Sendable {
    private let library: GSSLibrary
    private let host: String
    private var name: OpaquePointer?
    private var context: OpaquePointer?
    /// True while the server must answer before the context is complete.
    private(set) var isOpen = true

    /// `GSS_C_ROUTINE_ERROR` and `GSS_C_CALLING_ERROR`: the bits of failures.
    private static let failures: UInt32 = 0xFFFF_0000
    /// `GSS_S_CONTINUE_NEEDED`.
    private static let goesOn: UInt32 = 1

    /// Finds the library, and imports the service's name.
    ///
    /// - Throws: ``SessionError`` with `cannotSend`; if the library is missing, it says what to install.
    init(host: String, library: GSSLibrary? = .shared) throws(SessionError) {
        guard let library else {
            throw SessionError(.cannotSend, "\(host) cannot be answered: \(GSSLibrary.missing)")
        }
        self.library = library
        self.host = host
        var minor: UInt32 = 0
        var text = Array("HTTP@\(host)".utf8)
        var place: OpaquePointer?
        let major = text.withUnsafeMutableBytes { bytes in
            var buffer = GSSLibrary.Buffer(length: bytes.count, value: bytes.baseAddress)
            return library.importName(&minor, &buffer, GSSLibrary.Identifier.service.pointer, &place)
        }
        self.name = place
        try self.check(major, minor)
    }

    deinit {
        var minor: UInt32 = 0
        _ = self.library.releaseName(&minor, &self.name)
        _ = self.library.deleteContext(&minor, &self.context, nil)
    }

    /// Makes the next value of Authorization. It may ask the key distribution centre, and so block for a long time.
    ///
    /// - Parameter token: the server's token, in base64; nil at the beginning.
    /// - Throws: ``SessionError`` with `cannotSend`, for example without a ticket.
    func authorization(answering token: String?) throws(SessionError) -> String {
        var input: [UInt8] = []
        if let token {
            guard let bytes = Data(base64Encoded: token) else {
                throw SessionError(.malformedResponse, "the Negotiate token of \(self.host) is not base64")
            }
            input = Array(bytes)
        }
        var minor: UInt32 = 0
        var output = GSSLibrary.Buffer()
        let major = input.withUnsafeMutableBytes { bytes in
            var given = GSSLibrary.Buffer(length: bytes.count, value: bytes.baseAddress)
            return self.library.initContext(
                &minor, nil, &self.context, self.name, GSSLibrary.Identifier.negotiation.pointer, 0, 0, nil, &given,
                nil,
                &output, nil, nil)
        }
        let answer = self.library.taken(&output)
        try self.check(major, minor)
        self.isOpen = major & Self.goesOn != 0
        guard !answer.isEmpty else {
            throw SessionError(.cannotSend, "\(self.host) asks for more by Negotiate, and there is no more to say")
        }
        return "Negotiate \(Data(answer).base64EncodedString())"
    }

    private func check(_ major: UInt32, _ minor: UInt32) throws(SessionError) {
        if major & Self.failures == 0 { return }
        throw SessionError(
            .cannotSend, "\(self.host) cannot be answered by Negotiate; get a ticket with kinit, or see the cause",
            cause: self.library.words(major: major, minor: minor))
    }
}
