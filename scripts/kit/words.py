# SPDX-License-Identifier: Apache-2.0
"""Lists comments of Swift files that readers have to read twice: `words.py PATH…`. Ends with 1 if there are any."""

import pathlib
import re
import sys

# Relative clauses as nouns, fragments that lean on a name, and verbs that come late.
OPENING = re.compile(
    r"^/// (What|Who|Whom|Whose|Which|Whoever|Whether|How|Where|Of|The same|Has|Have|Nobody|Somebody)\b")
SENTENCE = re.compile(
    r"(?:^/// |[.!?:;] )(What|Who|Whom|Whose|Whoever|Whether|Which|Of (?:the|a|an|all|these|those|such|it)\b|The same\b)[ ,]")
PARAMETER = re.compile(r"- (?:Parameter [\w.]+|Returns|Throws|\w+):+ *(whether|what|who|how|which|where|whom)\b", re.I)
# Readers, callers and clients have names.
PERSON = re.compile(r"\b(nobody|somebody|whoever|whomever|anybody|everybody)\b", re.I)
RELATIVE = re.compile(r"\b(for|of|by|to|from|with|told|is|than|and|as|,) who(m|se)?\b(?! (?:is|are) )")
# A condition is an "if".
CONDITION = re.compile(
    r"[ ,]where (there (?:is|are|was|were)|it has|they have|none|nothing|one |its? is not|it is not|it is an? )")
RULES = {
    "a sentence has a subject and a verb in front": (OPENING, SENTENCE, PARAMETER),
    "name the reader, caller or client": (PERSON, RELATIVE),
    "a condition begins with if": (CONDITION,),
}


def comment(line: str) -> str | None:
    """The text of a line's comment; None for a line without one, or whose slashes stand in a literal."""
    if match := re.match(r"\s*/{2,} ?", line):
        return line[match.end():]
    match = re.search(r"\s// ", line)
    return line[match.end():] if match and line[:match.start()].count('"') % 2 == 0 else None


def breaches(path: pathlib.Path) -> list[str]:
    found = []
    follows = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        text = comment(line)
        if text is not None:
            # Names of code are no words.
            text = "/// " + re.sub(r"`[^`]*`", "`x`", text)
            for rule, patterns in RULES.items():
                if any(one.search(text) for one in patterns if one is not OPENING or not follows):
                    found.append(f"{path}:{number}: {rule}: {line.strip()}")
        follows = line.strip().startswith("//")
    return found


def main() -> int:
    found = []
    for root in map(pathlib.Path, sys.argv[1:]):
        for path in sorted(root.rglob("*.swift")):
            found += breaches(path)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
