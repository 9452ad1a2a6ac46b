// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import PintleMessage

// Each callback recovers its object, wraps the bytes and calls one method. None throws, none waits. The objects are kept
// alive by their pool while libcurl can call them.

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

private func pool(_ context: UnsafeMutableRawPointer?) -> TransferPool? {
    context.map { Unmanaged<TransferPool>.fromOpaque($0).takeUnretainedValue() }
}

func headerCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
)
    -> Int
{
    guard let transfer = transfer(context) else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer.receivedHeaderLine(line) ? line.count : 0
}

func writeCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
)
    -> Int
{
    guard let transfer = transfer(context) else { return 0 }
    let body = UnsafeRawBufferPointer(start: bytes, count: size * count)
    switch transfer.receivedBody(body) {
    case .taken: return body.count
    case .later: return Int(CURL_WRITEFUNC_PAUSE)
    case .abort: return 0
    }
}

func readCallback(_ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?)
    -> Int
{
    guard let transfer = transfer(context), let bytes else { return Int(CURL_READFUNC_ABORT) }
    switch transfer.provideBody(UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) {
    case .bytes(let count): return count
    case .wait: return Int(CURL_READFUNC_PAUSE)
    case .abort: return Int(CURL_READFUNC_ABORT)
    }
}

func seekCallback(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard let transfer = transfer(context), origin == SEEK_SET, transfer.rewindBody(to: Int(offset)) else {
        return CURL_SEEKFUNC_FAIL
    }
    return CURL_SEEKFUNC_OK
}

func trailerCallback(
    _ list: UnsafeMutablePointer<UnsafeMutablePointer<curl_slist>?>?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let transfer = transfer(context), let list else { return CURL_TRAILERFUNC_OK }
    // libcurl frees this list itself, so it must be one of its own making.
    transfer.trailersToSend.forEachLine { _, line in
        let text = String(decoding: line, as: UTF8.self)
        list.pointee = curl_slist_append(list.pointee, text)
    }
    return CURL_TRAILERFUNC_OK
}

func sslContextCallback(
    _ easy: UnsafeMutableRawPointer?, _ sslContext: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) -> CURLcode {
    guard let transfer = transfer(context), let sslContext else { return CURLE_SSL_CERTPROBLEM }
    transfer.installTrust(on: OpaquePointer(sslContext))
    return CURLE_OK
}

func startCallback(
    _ context: UnsafeMutableRawPointer?, _ peer: UnsafeMutablePointer<CChar>?, _ own: UnsafeMutablePointer<CChar>?,
    _ peerPort: Int32, _ ownPort: Int32
) -> Int32 {
    guard let transfer = transfer(context) else { return CURL_PREREQFUNC_OK }
    return transfer.mayStart(from: UInt16(truncatingIfNeeded: ownPort)) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// libcurl would begin a lookup in a thread of its own; any other result than zero keeps it from it.
func resolverCallback(
    _ resolver: UnsafeMutableRawPointer?, _ reserved: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    transfer(context)?.mayResolve() == true ? 0 : 1
}

func openSocketCallback(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let transfer = transfer(context), let address else { return CURL_SOCKET_BAD }
    return transfer.openSocket(address)
}

func closeSocketCallback(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
    pool(context)?.forget(socket)
    return close(socket)
}

func socketCallback(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    pool(context)?.setInterest(what, in: socket, for: easy)
    return 0
}

func timerCallback(_ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?) -> Int32
{
    pool(context)?.setTimer(milliseconds)
    return 0
}
