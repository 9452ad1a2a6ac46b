// SPDX-License-Identifier: Apache-2.0

/// The YAML parser's complaints in Pintle's words, with a remedy if it is not obvious.
///
/// libyaml has no codes for complaints, so its sentences are the keys. They are in scanner.c, parser.c and reader.c of libyaml
/// 0.2.5; the composer adds two.
enum YAMLWords {
    static func text(for problem: String) -> String {
        if let words = self.words[problem] { return words }
        if self.encoding.contains(problem) { return "a character is not valid UTF-8" }
        return "the parser does not take it"
    }

    private static let encoding: Set<String> = [
        "expected low surrogate area", "incomplete UTF-16 character", "incomplete UTF-16 surrogate pair",
        "incomplete UTF-8 octet sequence", "invalid Unicode character", "invalid leading UTF-8 octet",
        "invalid length of a UTF-8 sequence", "invalid trailing UTF-8 octet", "unexpected low surrogate area",
        "found an incorrect leading UTF-8 octet", "found an incorrect trailing UTF-8 octet",
    ]

    private static let words = [
        "did not find expected ',' or ']'": "a list in brackets is not closed; \",\" or \"]\" is due here",
        "did not find expected ',' or '}'": "a mapping in braces is not closed; \",\" or \"}\" is due here",
        "did not find expected '-' indicator": "an entry of a list is due here, in line with those above it",
        "did not find expected key": "a key is due here, in line with those above it",
        "did not find expected node content": "a value is due here",
        "did not find expected <document start>": "something stands before the document",
        "found duplicate %YAML directive": "%YAML stands there twice",
        "found duplicate %TAG directive": "%TAG stands there twice",
        "found incompatible YAML document": "it is of another version of YAML than 1.1 and 1.2",
        "found undefined tag handle": "the handle of the tag is not declared",
        "control characters are not allowed": "control characters are not allowed",
        "input is too long": "it is too long",
        "block sequence entries are not allowed in this context": "an entry of a list may not stand here",
        "mapping keys are not allowed in this context": "a key may not stand here",
        "mapping values are not allowed in this context":
            "a second \": \" may not stand in a line; put the value in quotes",
        "could not find expected ':'": "the key has no \":\" behind it",
        "could not find expected directive name": "the directive has no name",
        "found unknown directive name": "the directive is not known",
        "found unexpected non-alphabetical character": "the name of the directive has another character than letters",
        "did not find expected digit or '.' character": "the version of %YAML is no number, as in 1.2",
        "did not find expected version number": "the version of %YAML is no number, as in 1.2",
        "found extremely long version number": "the version of %YAML is no number, as in 1.2",
        "did not find expected alphabetic or numeric character": "the anchor or alias has no name",
        "did not find expected comment or line break": "the line goes on where it has to end",
        "did not find expected whitespace": "a space is due here",
        "did not find expected whitespace or line break": "a space or the end of the line is due here",
        "did not find URI escaped octet": "the tag has a broken escape",
        "did not find expected '!'": "the tag does not end with \"!\"",
        "did not find expected tag URI": "the tag is empty",
        "did not find the expected '>'": "the tag does not end with \">\"",
        "found a tab character that violates indentation": "a tab stands where lines are indented; write spaces",
        "found a tab character where an indentation space is expected":
            "a tab stands where lines are indented; write spaces",
        "found an indentation indicator equal to 0": "the indentation of a block of text cannot be 0",
        "found character that cannot start any token": "no value begins with this character; put it in quotes",
        "did not find expected hexdecimal number": "the escape has other digits than hexadecimal ones",
        "found invalid Unicode character escape code": "the escape is of no character",
        "found unknown escape character":
            "the escape is not known; write \\\\ for a backslash, or single quotes around the text",
        "found unexpected ':'": "a \":\" may not stand here; put the value in quotes",
        "found unexpected document indicator": "the document ends within a text in quotes",
        "found unexpected end of stream": "a text in quotes is not closed",
        "found undefined alias": "nothing has the name of this alias",
        "but found another document": "a second document begins; there may be only one",
    ]
}
