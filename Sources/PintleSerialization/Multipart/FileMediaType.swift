// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The media types of files by extension: those in IANA's registry that programs send most.
public enum FileMediaType {
    /// The type of files without a known type (RFC 2046 §4.5.1).
    public static let unknown = "application/octet-stream"

    /// Returns the type for the extension of `name`, ignoring case; ``unknown`` if the extension is missing or not known.
    public static func named(_ name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return Self.unknown }
        let ending = String(decoding: name.utf8[name.utf8.index(after: dot)...].map(ASCII.folded), as: UTF8.self)
        return Self.types[ending] ?? Self.unknown
    }

    private static let types: [String: String] = [
        "txt": "text/plain", "log": "text/plain", "csv": "text/csv", "md": "text/markdown", "html": "text/html",
        "htm": "text/html", "css": "text/css", "js": "text/javascript", "mjs": "text/javascript",
        "ics": "text/calendar",
        "vcf": "text/vcard",
        "json": "application/json", "xml": "application/xml", "plist": "application/x-plist",
        "yaml": "application/yaml", "yml": "application/yaml", "pdf": "application/pdf", "rtf": "application/rtf",
        "wasm": "application/wasm",
        "zip": "application/zip", "gz": "application/gzip", "tar": "application/x-tar", "zst": "application/zstd",
        "7z": "application/x-7z-compressed", "xz": "application/x-xz", "bz2": "application/x-bzip2",
        "cer": "application/x-x509-ca-cert", "crt": "application/x-x509-ca-cert", "der": "application/x-x509-ca-cert",
        "pem": "application/x-pem-file", "p12": "application/x-pkcs12",
        "doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff", "bmp": "image/bmp",
        "ico": "image/x-icon", "heic": "image/heic",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "opus": "audio/opus", "wav": "audio/wav",
        "flac": "audio/flac", "mp4": "video/mp4", "mov": "video/quicktime", "webm": "video/webm", "mpeg": "video/mpeg",
        "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
    ]
}
