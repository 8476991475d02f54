"""Group lines that differ only in numbers and names, so that unknown errors become a short list."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_LINES = 2000
_MASK = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\b|\b\d+(?:[.:,]\d+)*\b|\b[0-9a-f]{12,}\b")


def group_lines(lines: Sequence[str]) -> list[tuple[str, list[int]]]:
    """Return (template, indices of its lines), in the order in which templates first occur.

    Lines are masked first; what is left differing is grouped by Drain (drain3, in memory, bounded).
    """
    masked: dict[str, list[int]] = {}
    for index, line in enumerate(lines[:MOST_LINES]):
        masked.setdefault(_MASK.sub("<*>", line)[:300], []).append(index)
    if len(masked) <= 1:
        return list(masked.items())
    from drain3 import TemplateMiner
    from drain3.template_miner_config import TemplateMinerConfig

    config = TemplateMinerConfig()
    config.drain_sim_th = 0.6
    config.drain_max_clusters = 500
    config.profiling_enabled = False
    miner = TemplateMiner(config=config)
    groups: dict[int, list[int]] = {}
    for text in sorted(masked):
        groups.setdefault(int(miner.add_log_message(text)["cluster_id"]), []).extend(masked[text])
    templates = {cluster.cluster_id: cluster.get_template() for cluster in miner.drain.clusters}
    found = [
        (templates.get(cluster, lines[min(members)][:300]), sorted(members)) for cluster, members in groups.items()
    ]
    return sorted(found, key=lambda one: one[1][0])
