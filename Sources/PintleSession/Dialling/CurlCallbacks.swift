// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl

// Each callback recovers its object and calls one method. None throws, none waits. The dialler keeps the objects alive,
// and is closed before it is released.

private func dial(_ context: UnsafeMutableRawPointer?) -> Dial? {
    context.map { Unmanaged<Dial>.fromOpaque($0).takeUnretainedValue() }
}

private func dialler(_ context: UnsafeMutableRawPointer?) -> CurlDialler? {
    context.map { Unmanaged<CurlDialler>.fromOpaque($0).takeUnretainedValue() }
}

/// Called before libcurl starts a lookup in a thread of its own; a result other than zero prevents the lookup.
func resolverCallback(
    _ resolver: UnsafeMutableRawPointer?, _ reserved: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    dial(context)?.mayResolve() == true ? 0 : 1
}

func openSocketCallback(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let dial = dial(context), let address else { return CURL_SOCKET_BAD }
    return dial.openSocket(address)
}

func closeSocketCallback(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
    dialler(context)?.close(socket) ?? 0
}

func socketCallback(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    dialler(context)?.setInterest(what, in: socket)
    return 0
}

func timerCallback(_ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?) -> Int32
{
    dialler(context)?.setTimer(milliseconds)
    return 0
}
