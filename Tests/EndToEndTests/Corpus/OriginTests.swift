// SPDX-License-Identifier: Apache-2.0

import Testing

extension WireCase {
    /// The cases in which the origin is the one that misbehaves, or answers in some form.
    static let ofOrigins: [WireCase] =
        CorpusTests.ResponseHeads.statusLines + CorpusTests.ResponseHeads.fields
        + CorpusTests.ResponseFraming.lengths + CorpusTests.ResponseFraming.codings + CorpusTests.ResponseFraming.ends
        + CorpusTests.ResponseChunks.passed + CorpusTests.ResponseChunks.cuts
        + CorpusTests.Bodyless.heads + CorpusTests.Bodyless.interims + CorpusTests.Bodyless.injections
        + CorpusTests.ConnectionFields.responses + CorpusTests.Pipelining.answers + CorpusTests.Hops.expectations
        + CorpusTests.Reuse.cases + CorpusTests.Streaming.cases

    /// Cases that hold on a connection that was used before.
    static let ofUsedOrigins = Self.ofOrigins.filter { $0.newOnly == nil }
}

/// The corpus's hostile origins, reached in every way, on new connections and on used ones.
///
/// The cases run in turn if there is an upstream proxy: its port belongs to one case's puppet at a time.
struct OriginTests {
    @Suite(.oneProxy) struct Straight {
        @Test(arguments: WireCase.ofUsedOrigins) func used(_ test: WireCase) throws { try test.play(onUsed: true) }
    }

    @Suite(.oneProxy(OriginWay(isSecure: true))) struct OverTLS {
        @Test(arguments: WireCase.ofOrigins) func new(_ test: WireCase) throws { try test.play() }
        @Test(arguments: WireCase.ofUsedOrigins) func used(_ test: WireCase) throws { try test.play(onUsed: true) }
    }

    @Suite(.serialized, .oneProxy(OriginWay(parent: .http))) struct ForwardedByHTTP {
        @Test(arguments: WireCase.ofOrigins) func new(_ test: WireCase) throws { try test.play() }
        @Test(arguments: WireCase.ofUsedOrigins) func used(_ test: WireCase) throws { try test.play(onUsed: true) }
    }

    @Suite(.serialized, .oneProxy(OriginWay(parent: .http, isSecure: true))) struct TunnelledByHTTP {
        @Test(arguments: WireCase.ofOrigins) func new(_ test: WireCase) throws { try test.play() }
        @Test(arguments: WireCase.ofUsedOrigins) func used(_ test: WireCase) throws { try test.play(onUsed: true) }
    }

    @Suite(.serialized, .oneProxy(OriginWay(parent: .https))) struct ForwardedByHTTPS {
        @Test(arguments: WireCase.ofOrigins) func new(_ test: WireCase) throws { try test.play() }
        @Test(arguments: WireCase.ofUsedOrigins) func used(_ test: WireCase) throws { try test.play(onUsed: true) }
    }

    @Suite(.serialized, .oneProxy(OriginWay(parent: .https, isSecure: true))) struct TunnelledByHTTPS {
        @Test(arguments: WireCase.ofOrigins) func new(_ test: WireCase) throws { try test.play() }
        @Test(arguments: WireCase.ofUsedOrigins) func used(_ test: WireCase) throws { try test.play(onUsed: true) }
    }

    @Suite(.serialized, .oneProxy(OriginWay(parent: .socks5))) struct BySOCKS {
        @Test(arguments: WireCase.ofOrigins) func new(_ test: WireCase) throws { try test.play() }
        @Test(arguments: WireCase.ofUsedOrigins) func used(_ test: WireCase) throws { try test.play(onUsed: true) }
    }

    @Suite(.serialized, .oneProxy(OriginWay(parent: .socks5, isSecure: true))) struct BySOCKSOverTLS {
        @Test(arguments: WireCase.ofOrigins) func new(_ test: WireCase) throws { try test.play() }
        @Test(arguments: WireCase.ofUsedOrigins) func used(_ test: WireCase) throws { try test.play(onUsed: true) }
    }
}
