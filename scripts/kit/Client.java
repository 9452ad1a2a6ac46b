// SPDX-License-Identifier: Apache-2.0

import java.net.*;
import java.net.http.*;
import java.nio.file.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.*;
import javax.net.ssl.*;

/** Java's two HTTP clients, as `scripts/clients` uses them. */
class Client {
    static final Map<String, String> environment = System.getenv();

    static void expect(byte[] value, byte[] wanted, String what) {
        if (!Arrays.equals(value, wanted)) throw new IllegalStateException(what + " is not what was expected");
    }

    public static void main(String[] arguments) throws Exception {
        var page = Files.readAllBytes(Path.of(environment.get("PAGE")));
        var blob = new byte[3 << 20];
        new Random(1).nextBytes(blob);
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (var file = Files.newInputStream(Path.of(environment.get("CA")))) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);

        var proxy = URI.create(environment.get("PROXY"));
        var address = new InetSocketAddress(proxy.getHost(), proxy.getPort());
        // The environment says all that there is to say, by JAVA_TOOL_OPTIONS.
        var alone = environment.containsKey("INTERCEPTED");
        var builder = alone
            ? HttpClient.newBuilder().proxy(ProxySelector.getDefault())
            : HttpClient.newBuilder().proxy(ProxySelector.of(address)).sslContext(tls);
        var client = builder.build();
        for (var origin : List.of(environment.get("PLAIN"), environment.get("SECURE"))) {
            var url = URI.create(origin + "/client/java/page");
            var get = HttpRequest.newBuilder(url).build();
            expect(client.send(get, HttpResponse.BodyHandlers.ofByteArray()).body(), page, origin);
            var post = HttpRequest.newBuilder(URI.create(origin + "/echo"))
                .expectContinue(true).POST(HttpRequest.BodyPublishers.ofByteArray(blob)).build();
            expect(client.send(post, HttpResponse.BodyHandlers.ofByteArray()).body(), blob, "an upload");

            var old = (HttpURLConnection) (alone
                ? url.toURL().openConnection() : url.toURL().openConnection(new Proxy(Proxy.Type.HTTP, address)));
            if (!alone && old instanceof HttpsURLConnection secure) secure.setSSLSocketFactory(tls.getSocketFactory());
            try (var stream = old.getInputStream()) { expect(stream.readAllBytes(), page, origin); }

            // To a proxy, Java 17 sends the request for ws:// as if it were the origin: without the origin in its target.
            if (origin.startsWith("http:")) continue;
            var said = new java.util.concurrent.CompletableFuture<String>();
            var socket = client.newWebSocketBuilder()
                .buildAsync(URI.create(origin.replaceFirst("https", "wss") + "/talk"), new WebSocket.Listener() {
                    public java.util.concurrent.CompletionStage<?> onText(WebSocket s, CharSequence text, boolean last) {
                        said.complete(text.toString());
                        return null;
                    }
                }).get();
            socket.sendText("hello", true).get();
            if (!said.get().equals("you said hello")) throw new IllegalStateException("a WebSocket's answer");
            socket.abort();
        }
        System.out.println(System.getProperty("java.version"));
    }
}
