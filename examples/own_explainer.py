"""An explainer of one's own, by occlusion, beside those of the library.

    python examples/own_explainer.py

An importance is how much the predicted class's log-probability falls when a node's features, or
one feature of all nodes, are set to zero. An installed package makes such a method known to
everyone by an entry point of the group "zorro.explainers".
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.datasets import KarateClub
from torch_geometric.nn import GCN

from zorro.explainers import Masks, Subject, Subjects, build, evaluate, method


@method("occlusion")
class Occlusion:
    """Ranks candidates and features by what the prediction loses without them."""

    def explain(self, subject: Subject) -> Masks:
        """Return the losses, 0 where the prediction gains."""
        n, d = subject.graph.candidate_x.shape
        return Masks(
            nodes=torch.stack([self._loss(subject, row=row) for row in range(n)]),
            features=torch.stack([self._loss(subject, column=column) for column in range(d)]),
        )

    def _loss(self, subject: Subject, row: int | None = None, column: int | None = None) -> Tensor:
        x = subject.graph.x.clone()  # (n + c, d); rows from n on are context
        rows = slice(subject.candidates) if row is None else row
        x[rows, slice(None) if column is None else column] = 0
        before, after = (subject.scores(each).log_softmax(-1) for each in (subject.graph.x, x))
        return (before - after)[subject.predicted_class].clamp(min=0)


def main() -> None:
    """Train a model on the karate club and compare methods on one of its predictions."""
    torch.manual_seed(0)
    data = KarateClub()[0]
    model = GCN(data.num_features, 16, num_layers=2, out_channels=4)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(100):
        optimiser.zero_grad()
        scores = model(data.x, data.edge_index)[data.train_mask]
        loss = torch.nn.functional.cross_entropy(scores, data.y[data.train_mask])
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    subjects = Subjects(model, data.x, data.edge_index)
    for name in ("occlusion", "grad-input", "empty"):
        subject = subjects.of(0)
        print(name, evaluate(subject, build(name).explain(subject), subjects.noise))


if __name__ == "__main__":
    main()
