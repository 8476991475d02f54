"""From facts to a cited root cause: rules, evidence, graph, hypotheses, ranking, report."""
