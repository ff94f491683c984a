"""RDT-fidelity the slow way, with nothing of the library: for tests to compare with."""

import torch


def plain_fidelity(predict, x, node, *, nodes, features, samples=300, seed=11):
    """How often a class stays when every other entry of the whole graph is drawn from its column.

    Args:
        predict: maps features (N, d) to the class of `node`, as the user would.
        x: (N, d).
        node: the query.
        nodes: kept.
        features: kept on them.
        samples: how many.
        seed: of the draws.
    """
    generator = torch.Generator().manual_seed(seed)
    keep = torch.zeros(x.shape, dtype=torch.bool)
    for row in nodes:
        for column in features:
            keep[row, column] = True
    true = predict(x)
    stayed = 0
    for _ in range(samples):
        rows = torch.randint(x.size(0), x.shape, generator=generator)
        stayed += predict(torch.where(keep, x, x.gather(0, rows))) == true
    return stayed / samples
