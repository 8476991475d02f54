"""The vocabulary that rules, cases and reports share: layers, entities, symptoms and causes of `rules/taxonomy.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from diagnosis.rulebook.document import Document, RuleError


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Ids and what they mean. `causes` maps an id to (layer, when it is the root cause)."""

    layers: dict[str, str]
    entities: tuple[str, ...]
    symptoms: dict[str, str]
    causes: dict[str, tuple[str, str]]

    def layer_of(self, cause: str) -> str:
        """Return a cause's layer; `application` for what has none."""
        return self.causes[cause][0] if cause in self.causes else "application"


def load_vocabulary(path: Path) -> Vocabulary:
    """Read the taxonomy; raises RuleError with file:line."""
    document = Document.read(path)
    value = document.value
    try:
        causes = {name: (str(entry[0]), str(entry[1])) for name, entry in value["causes"].items()}
        found = Vocabulary(dict(value["layers"]), tuple(value["entities"]), dict(value["symptoms"]), causes)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise RuleError([f"{path.name}:1: expected layers, entities, symptoms and causes: {error}"]) from error
    wrong = [
        f"{path.name}:{document.line_of(['causes', name])}: layer `{layer}` is none of {', '.join(found.layers)}"
        for name, (layer, _) in causes.items()
        if layer not in found.layers
    ]
    if wrong:
        raise RuleError(wrong)
    return found
