// SPDX-License-Identifier: Apache-2.0

// Either module may provide the constants of sockets, as libcurl's headers import them too.
internal import CPintleCurl
internal import Glibc
package import NIOCore
package import PintleLoop
internal import PintleSystem

/// One connection to one address, on a loop's thread.
package final class Dialler {
    /// The outcome: a connected, non-blocking socket that the receiver owns, or the failure.
    package typealias Outcome = Result<Int32, ProbeFailure>

    private let address: SocketAddress
    private let interface: String?
    private let serviceType: ServiceType
    private let timeLimit: Duration
    private let loop: Loop
    private var descriptor: Int32 = -1
    private var completion: ((Outcome) -> Void)?
    private lazy var timer = LoopTimer { [weak self] in self?.finish(.failure(.timedOut(.connecting))) }

    /// - Parameters:
    ///   - interface: the network device that packets use, such as `eth0`; if nil, the system chooses.
    ///   - serviceType: the mark of the packets.
    package init(
        address: SocketAddress, interface: String? = nil, serviceType: ServiceType = .default, timeLimit: Duration,
        loop: Loop
    ) {
        self.address = address
        self.interface = interface
        self.serviceType = serviceType
        self.timeLimit = timeLimit
        self.loop = loop
    }

    /// Begins. The caller must have checked that the address may be dialled.
    ///
    /// - Parameter completion: called once, unless the dial is cancelled; perhaps before this returns.
    package func start(_ completion: @escaping (Outcome) -> Void) {
        self.completion = completion
        let family: Int32
        switch self.address {
        case .v4: family = AF_INET
        case .v6: family = AF_INET6
        case .unixDomainSocket: return self.finish(.failure(.local("a Unix-domain socket has no TLS")))
        }
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        self.descriptor = DescriptorReserve.admitted(socket(family, Int32(kind), 0))
        guard self.descriptor >= 0 else { return self.finish(.failure(.local(Self.words(for: errno)))) }
        self.serviceType.mark(self.descriptor, family: family)
        DialledSocket.prepare(self.descriptor)
        if let interface {
            let code = interface.withCString {
                setsockopt(
                    self.descriptor, SOL_SOCKET, SO_BINDTODEVICE, $0, socklen_t(interface.utf8.count + 1))
            }
            guard code == 0 else {
                return self.finish(.failure(.local("the device \(interface): \(Self.words(for: errno))")))
            }
        }
        self.loop.arm(self.timer, at: .now() + TimeAmount(self.timeLimit))
        let code = self.address.withSockAddr { place, size in
            connect(self.descriptor, place, socklen_t(size)) == 0 ? 0 : errno
        }
        if code == EINPROGRESS { return self.loop.watch(self.descriptor, for: .write, by: self) }
        self.finish(code)
    }

    /// Cancels the dial; the completion is not called.
    package func cancel() {
        self.completion = nil
        self.finish(.failure(.cancelled))
    }

    private func finish(_ code: Int32) {
        switch code {
        case 0: self.finish(.success(self.descriptor))
        case ECONNREFUSED: self.finish(.failure(.refused))
        case ETIMEDOUT: self.finish(.failure(.timedOut(.connecting)))
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: self.finish(.failure(.local(Self.words(for: code))))
        default: self.finish(.failure(.unreachable(Self.words(for: code))))
        }
    }

    private func finish(_ outcome: Outcome) {
        let completion = self.completion
        self.completion = nil
        self.loop.disarm(self.timer)
        if self.descriptor >= 0 {
            self.loop.unwatch(self.descriptor)
            if completion == nil || (try? outcome.get()) == nil { close(self.descriptor) }
            self.descriptor = -1
        }
        completion?(outcome)
    }

    private static func words(for code: Int32) -> String { SystemError(code).description }
}

extension Dialler: DescriptorWatcher {
    package func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        self.finish(code)
    }
}
