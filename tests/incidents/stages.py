"""Where the time of a diagnosis goes as a job grows: CPU seconds of each stage, and how they grow with the facts.

    python -m tests.incidents.stages [--ranks 128 512 2048] [--seeds 0 1 5] [--channels 2]

`growth` is how many times more a stage takes for the largest jobs than for the smallest, divided by how many times more facts
they left: about 1 where time is in proportion. `calls` counts the Python calls of a diagnosis, which no other load disturbs.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeVar

from collectors.ingest import text_input
from collectors.store import Store
from diagnosis.analyses import ANALYSES
from diagnosis.engine import Knowledge, diagnose, take_in
from diagnosis.facts import load_facts
from diagnosis.graph import build_graph
from diagnosis.hypotheses import propose
from diagnosis.ranking import rank
from diagnosis.rulebook import load_rulebook
from tests.incidents.generate import make_incident

NOW = 1_764_547_200.0
RANKS, SEEDS = (128, 512, 2048), (0, 1, 3, 8, 10)
_Result = TypeVar("_Result")


@dataclass(slots=True)
class Cost:
    """What the diagnoses of some incidents of one size cost."""

    ranks: int
    facts: int = 0
    calls: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def time(self, stage: str, work: Callable[[], _Result]) -> _Result:
        """Run a stage and add its time."""
        begun = time.process_time()
        result = work()
        self.seconds[stage] += time.process_time() - begun
        return result


def cost(ranks: int, seeds: Sequence[int], knowledge: Knowledge, *, channels: int = 2, count: bool = True) -> Cost:
    """Diagnose the incidents of these seeds in a job of so many ranks, stage by stage."""
    found, rulebook = Cost(ranks), knowledge.rulebook
    for seed in seeds:
        incident = make_incident(seed, sizes=(ranks,), channels=channels)
        inputs = [text_input(name, data) for name, data in incident.inputs]
        with closing(Store.open()) as store:
            intakes = found.time("intake", lambda: take_in(inputs, knowledge, store, now=NOW, batch="one"))  # noqa: B023
            facts = found.time("read back", lambda: load_facts(store))
            facts.reference = knowledge.reference
            found.facts += len(facts.observations) + len(facts.samples) + len(facts.relations)
            for module in ANALYSES:
                name = module.__name__.rpartition(".")[2]
                for derived, because in found.time(f"analysis {name}", lambda: list(module.derive(facts))):  # noqa: B023
                    facts.add(derived, because)
            causes, symptoms = found.time("propose", lambda: propose(facts, rulebook))  # noqa: B023
            entities = [one.entity for one in (*causes, *symptoms)]
            graph = found.time("graph", lambda: build_graph(facts, entities))  # noqa: B023
            found.time("rank", lambda: rank(causes, symptoms, graph, rulebook, priors=knowledge.reference.priors))  # noqa: B023
            found.time("whole diagnosis", lambda: diagnose(store, knowledge, now=NOW, intakes=intakes))  # noqa: B023
            if count:
                profile = cProfile.Profile()
                profile.runcall(diagnose, store, knowledge, now=NOW, intakes=intakes)
                found.calls += pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return found


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=list(RANKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--channels", type=int, default=2, help="lines of channels that each rank prints")
    options = parser.parse_args()
    knowledge = Knowledge.build(load_rulebook(), cached=True)
    costs = [cost(ranks, options.seeds, knowledge, channels=options.channels) for ranks in options.ranks]
    first, last = costs[0], costs[-1]
    more = last.facts / first.facts
    print(f"{'stage':<28}" + "".join(f"{one.ranks:>10}" for one in costs) + f"{'growth':>9}")
    print(f"{'facts':<28}" + "".join(f"{one.facts:>10}" for one in costs))
    for stage, seconds in sorted(last.seconds.items(), key=lambda row: -row[1]):
        growth = seconds / max(first.seconds[stage], 1e-4) / more
        print(f"{stage:<28}" + "".join(f"{one.seconds[stage]:>10.3f}" for one in costs) + f"{growth:>9.2f}")
    print(f"{'calls':<28}" + "".join(f"{one.calls:>10}" for one in costs) + f"{last.calls / first.calls / more:>9.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
