"""Words of a text and an index over them: English words and Chinese pairs of characters, without a dictionary.

>>> words("GPU 掉卡了 Xid:79")
['gpu', 'xid:79', 'xid', '79', '掉卡', '卡了']
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence

QUERY_LIMIT = 2000
LATIN = re.compile(r"[a-z0-9]+(?:[._:/-][a-z0-9]+)*")
PART = re.compile(r"[a-z0-9]+")
CHINESE_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
# Too common to tell one incident from another.
STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by for from had has have in is it its no not of on or so than that the their then there "
        "this to was were which while with 一个 我们 这个 没有",
    )
)


def words(text: str, *, single: bool = False) -> list[str]:
    """Return the words of a text: joined ones whole and in parts, Chinese in pairs.

    With `single`, each Chinese character as well, so that an index can answer a query of one character.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    found: list[str] = []
    for match in LATIN.finditer(text):
        parts = PART.findall(match.group())
        found.extend([match.group(), *parts] if len(parts) > 1 else parts)
    for match in CHINESE_RUN.finditer(text):
        run = match.group()
        found.extend(run[at : at + 2] for at in range(len(run) - 1))
        if single or len(run) == 1:
            found.extend(run)
    return [word for word in found if word not in STOP]


class WordIndex:
    """Documents, each a list of (text, weight), answered by how much of a query's weight they hold."""

    def __init__(self, documents: Mapping[str, Sequence[tuple[str, float]]]) -> None:
        self._postings: dict[str, dict[str, float]] = defaultdict(dict)
        for name in sorted(documents):
            for text, weight in documents[name]:
                for word in words(text, single=True):
                    self._postings[word][name] = max(weight, self._postings[word].get(name, 0.0))
        self._size = len(documents)

    def search(self, text: str) -> list[tuple[str, float]]:
        """Return (document, score), best first, ties by name; documents far behind the best are left out."""
        parts: dict[str, list[float]] = defaultdict(list)
        for word in sorted(set(words(text[:QUERY_LIMIT]))):
            postings = self._postings.get(word, {})
            for name, weight in postings.items():
                parts[name].append(weight * math.log(1 + self._size / len(postings)))
        scores = {name: math.fsum(values) for name, values in parts.items()}
        best = max(scores.values(), default=0.0)
        return sorted(((n, s) for n, s in scores.items() if s >= best / 3), key=lambda item: (-item[1], item[0]))
