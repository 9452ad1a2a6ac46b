// SPDX-License-Identifier: Apache-2.0

internal import CPintleYAML

/// Parses a YAML text into events; owns libyaml's parser.
final class YAMLParser {
    /// An event, and the place where it begins.
    struct Event {
        enum Kind {
            case documentStart
            case documentEnd
            case streamEnd
            case alias(String)
            case scalar(YAMLNode.Scalar, anchor: String?)
            case sequenceStart(anchor: String?)
            case sequenceEnd
            case mappingStart(anchor: String?)
            case mappingEnd
        }

        let kind: Kind
        /// The tag in full, as in `tag:yaml.org,2002:str` for `!!str`, or `!`; nil without one.
        let tag: String?
        let position: SourcePosition
    }

    // Both keep their addresses for life: libyaml's parser points to the text, and to itself.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// - Parameter bytes: valid UTF-8 without a byte order mark.
    /// - Throws: the fault that is met before the first event.
    init(_ bytes: [UInt8]) throws(YAMLFault) {
        self.text = .allocate(capacity: bytes.count)
        _ = self.text.initialize(from: bytes)
        self.parser = .allocate(capacity: 1)
        self.parser.initialize(to: yaml_parser_t())
        // Without memory the parser stays empty, which `yaml_parser_delete` allows.
        guard yaml_parser_initialize(self.parser) == 1 else { throw .outOfMemory }
        yaml_parser_set_encoding(self.parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(self.parser, self.text.baseAddress, self.text.count)
        var start = yaml_event_t()
        guard yaml_parser_parse(self.parser, &start) == 1 else { throw self.fault }
        yaml_event_delete(&start)
    }

    deinit {
        yaml_parser_delete(self.parser)
        self.parser.deallocate()
        self.text.deallocate()
    }

    /// The next event; `streamEnd` again and again at the end. Not to be called after it has thrown.
    func next() throws(YAMLFault) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(self.parser, &event) == 1 else { throw self.fault }
        defer { yaml_event_delete(&event) }
        return Event(kind: Self.kind(event), tag: Self.tag(event), position: SourcePosition(event.start_mark))
    }

    private static func kind(_ event: yaml_event_t) -> Event.Kind {
        switch event.type {
        case YAML_DOCUMENT_START_EVENT: .documentStart
        case YAML_DOCUMENT_END_EVENT: .documentEnd
        case YAML_ALIAS_EVENT: .alias(Self.name(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT: .scalar(Self.scalar(event), anchor: Self.name(event.data.scalar.anchor))
        case YAML_SEQUENCE_START_EVENT: .sequenceStart(anchor: Self.name(event.data.sequence_start.anchor))
        case YAML_SEQUENCE_END_EVENT: .sequenceEnd
        case YAML_MAPPING_START_EVENT: .mappingStart(anchor: Self.name(event.data.mapping_start.anchor))
        case YAML_MAPPING_END_EVENT: .mappingEnd
        // After the end of the stream there are events without a type.
        case YAML_STREAM_END_EVENT, YAML_NO_EVENT: .streamEnd
        default: preconditionFailure("BUG: libyaml has given an event of type \(event.type.rawValue)")
        }
    }

    private static func tag(_ event: yaml_event_t) -> String? {
        switch event.type {
        case YAML_SCALAR_EVENT: Self.name(event.data.scalar.tag)
        case YAML_SEQUENCE_START_EVENT: Self.name(event.data.sequence_start.tag)
        case YAML_MAPPING_START_EVENT: Self.name(event.data.mapping_start.tag)
        default: nil
        }
    }

    private static func scalar(_ event: yaml_event_t) -> YAMLNode.Scalar {
        let scalar = event.data.scalar
        // libyaml's length counts, and no zero byte at the end: an escape may stand for one within.
        return YAMLNode.Scalar(
            string: String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self),
            isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
    }

    private static func name(_ bytes: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        bytes.map { String(cString: $0) }
    }

    private var fault: YAMLFault {
        let problem = self.parser.pointee.problem.map { String(cString: $0) } ?? ""
        return switch self.parser.pointee.error {
        case YAML_MEMORY_ERROR: .outOfMemory
        case YAML_READER_ERROR: .character(problem, offset: self.parser.pointee.problem_offset)
        default: .syntax(problem, SourcePosition(self.parser.pointee.problem_mark))
        }
    }
}

extension SourcePosition {
    /// libyaml counts lines, and the characters before a place in its line, from 0.
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: mark.line + 1, column: mark.column + 1)
    }
}
