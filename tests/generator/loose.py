"""Predicates as people type them: few parentheses, comments and line ends anywhere, literals in every spelling.

What they mean is for Spark's grammar to say: precedence, where a comment ends, what a quote is. Columns: `x`, `y` INT, `s`
STRING, `b` BOOLEAN, `d` DATE.
"""

from __future__ import annotations

from random import Random

_NUMBERS = (
    "0", "1", "2", "3", "-1", "1L", "2S", "3Y", "1.", ".5", "1.5", "2e0", "1E0", "1.0D", "2BD", "3F", "01", "+1", "- 1", "'1'",
    '"2"', "1e-1", "2.50", "0.1e1",
)  # fmt: skip
_TEXTS = (
    "'a'", '"a"', "'a' 'b'", "'a''b'", "r'a'", "'\\a'", "'\\141'", "'\\u0061'", "'it\\'s'", "'%'", "''", "'A'", "'a\\tb'",
    "'-- a'", "'/* a'", "'a\nb'", "'\\%a'", "'a' -- c\n'b'", "R\"a\"", "'\\\\'", "'\U0001f33c'", "'\\U0001f33c'", "'`'", "X'61'",
)  # fmt: skip
_DATES = ("DATE '2024-01-01'", "'2024-01-01'", "date'2024-1-1'", "TIMESTAMP '2024-01-01 00:00:00'", "DATE\n'2024-01-02'")
_ARITHMETIC = ("+", "-", "*", "/", "%", "DIV", "&", "|", "^", "||")
_COMPARISONS = ("=", "==", "!=", "<>", "<", "<=", ">", ">=", "<=>")
_SPACES = (
    " ", " ", " ", " ", " ", "  ", "\n", "\t", "\r\n", " /* c */ ", " /* c ' */ ", " -- c\n", " --\n", " -- ' \n", "/**/ ",
    " /* a /* b */ c */ ", " -- c \\\n c2\n", " -- c\r", " /* -- */ ", " /* a /* */ -- */ ", "\u00a0",
    " /* */ /* */ ", "\x0b", "\f", "\u2003", "\u3000",
)  # fmt: skip


class Loose:
    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def predicate(self) -> str:
        """One to four conditions in a row, with NOT and parentheses here and there."""
        rng = self._rng
        words = [*self._condition()]
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            words += [rng.choice(["AND", "OR", "and", "Or"]), *self._condition()]
        return self._joined(words)

    def _condition(self) -> list[str]:
        rng = self._rng
        words = self._tested()
        if rng.random() < 0.15:
            words = [*words, rng.choice(["=", "<=>", "!="]), rng.choice(["true", "FALSE", "b", "NULL"])]
        if rng.random() < 0.15:
            words = [*words, *rng.choice(["IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS NOT UNKNOWN"]).split()]
        if rng.random() < 0.15:
            words = ["(", *words, ")"]
        if rng.random() < 0.2:
            words = [rng.choice(["NOT", "!", "not"]), *words]
        return words

    def _tested(self) -> list[str]:
        rng = self._rng
        dice = rng.random()
        if dice < 0.08:
            return [rng.choice(["b", "true", "x = x", "`b`", "NULL", "t.b" if rng.random() < 0.1 else "b"])]
        if dice < 0.2:
            return [*self._number(), *rng.choice(["BETWEEN", "NOT BETWEEN"]).split(), *self._number(), "AND", *self._number()]
        if dice < 0.32:
            listed = [word for n in range(rng.randint(1, 4)) for word in ([","] if n else []) + self._number()]
            return [*self._number(), *rng.choice(["IN", "NOT IN"]).split(), "(", *listed, ")"]
        if dice < 0.5:
            like = rng.choice(["=", "!=", "LIKE", "NOT LIKE", "<", "RLIKE", ">=", "ILIKE", "||", "IN"])
            if like == "||":
                return ["s", "||", rng.choice(_TEXTS), rng.choice(_COMPARISONS), rng.choice(_TEXTS)]
            if like == "IN":
                return ["s", "IN", "(", rng.choice(_TEXTS), ",", rng.choice(_TEXTS), ")"]
            return ["s", *like.split(), rng.choice(_TEXTS)]
        if dice < 0.58:
            return ["d", rng.choice(_COMPARISONS), rng.choice(_DATES)]
        if dice < 0.64:
            return [
                f"CASE WHEN {self._joined(self._condition())} THEN",
                *self._number(),
                "ELSE",
                *self._number(),
                "END",
                "=",
                "1",
            ]
        if dice < 0.68:
            return ["between", "(", *self._number(), ",", *self._number(), ",", *self._number(), ")"]
        return [*self._number(), rng.choice(_COMPARISONS), *self._number()]

    def _number(self) -> list[str]:
        rng = self._rng
        words: list[str] = []
        for n in range(rng.choice([1, 1, 1, 2, 2, 3])):
            if n:
                words.append(rng.choice(_ARITHMETIC))
            if rng.random() < 0.12:
                words.append(rng.choice(["-", "+", "~", "- -"]))
            words.append(rng.choice(["x", "y", "x", "y", "`x`", "X", rng.choice(_NUMBERS), rng.choice(_NUMBERS)]))
        if rng.random() < 0.08:
            words = ["(", *words, ")"]
        return words if rng.random() < 0.95 else [*words, "::", "INT"]

    def _joined(self, words: list[str]) -> str:
        rng = self._rng
        text = words[0]
        for word in words[1:]:
            tight = word in ("(", ")", ",") or text[-1] in "(," or word in _COMPARISONS
            text += ("" if tight and rng.random() < 0.5 else rng.choice(_SPACES) if rng.random() < 0.15 else " ") + word
        return text + (rng.choice(_SPACES) if rng.random() < 0.1 else "")
