// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// The use of a resource, as developer tools group them (Chrome DevTools Protocol, `Network.ResourceType`).
enum ResourceType: String {
    case document = "Document"
    case stylesheet = "Stylesheet"
    case image = "Image"
    case media = "Media"
    case font = "Font"
    case script = "Script"
    case fetch = "Fetch"
    case manifest = "Manifest"
    case webSocket = "WebSocket"
    case other = "Other"

    /// Browsers say the use in the request (Sec-Fetch-Dest). For other clients the type of the content tells it.
    init(_ exchange: ShownExchange) {
        if exchange.isWebSocket {
            self = .webSocket
            return
        }
        let destination = exchange.requestFields.pairs.first { $0.name.lowercased() == "sec-fetch-dest" }?.value
        self = destination.flatMap(Self.init(destination:)) ?? Self(mediaType: exchange.responseFields.mediaType ?? "")
    }

    private init?(destination: String) {
        switch destination {
        case "document", "iframe", "frame": self = .document
        case "style", "xslt": self = .stylesheet
        case "image": self = .image
        case "audio", "video", "track": self = .media
        case "font": self = .font
        case "script", "worker", "sharedworker", "serviceworker", "audioworklet", "paintworklet": self = .script
        case "empty": self = .fetch
        case "manifest": self = .manifest
        default: return nil
        }
    }

    private init(mediaType: String) {
        let subtype = mediaType.drop { $0 != "/" }.dropFirst()
        switch mediaType.prefix(while: { $0 != "/" }) {
        case "image": self = .image
        case "audio", "video": self = .media
        case "font": self = .font
        case "text" where subtype == "html": self = .document
        case "text" where subtype == "css": self = .stylesheet
        case "text" where subtype == "javascript", "application" where subtype == "javascript": self = .script
        case "application" where subtype == "json" || subtype.hasSuffix("+json"): self = .fetch
        default: self = .other
        }
    }
}

extension ShownExchange.Lines {
    /// The media type without its parameters, in lower case.
    var mediaType: String? {
        self.types.first.map { type in
            String(type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }).lowercased()
        }
    }
}
