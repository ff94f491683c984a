"""How the parts of one graph are cut out on which queries are explained."""

from __future__ import annotations

from dataclasses import dataclass

from zorro.cut import Check, Extractor
from zorro.elements import redraws_features
from zorro.graph.graph import Graph
from zorro.model.predictor import Predictor
from zorro.noise import Noise
from zorro.noise.of_edges import AnyEdgeNoise
from zorro.question.asking import ABOUT_NODES, Asking
from zorro.question.parameters import Parameters


@dataclass(frozen=True)
class Cutting:
    """The options of `zorro.Zorro` that say so: `hops`, `halo` and `check`."""

    hops: int | None
    halo: int
    check: Check

    def extractor(
        self,
        predictor: Predictor,
        graph: Graph,
        noise: Noise,
        asked: Parameters,
        edges: AnyEdgeNoise | None,
        *,
        asking: Asking = ABOUT_NODES,
    ) -> Extractor:
        """Return what cuts parts out of a graph.

        Args:
            predictor: the model.
            graph: of which they are parts.
            noise: what unselected entries are refilled with.
            asked: of every query.
            edges: what happens to edges that are not kept, where they are selectable.
            asking: about what in the graph.
        """
        return Extractor(
            predictor,
            graph,
            hops=self.hops,
            halo=self.halo,
            check=self.check,
            noise=noise,
            seed=asked.seed,
            asking=asking,
            edges=edges,
            keeps_features=not redraws_features(asked.keep),
        )
