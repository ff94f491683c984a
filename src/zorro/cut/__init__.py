"""What a prediction can see, cut out of the graph so that the prediction stays."""

from zorro.cut.computational_graph import ComputationalGraph
from zorro.cut.extractor import CHECKS, Check, Extractor
from zorro.cut.links import Links
from zorro.cut.whole_graphs import WholeGraphs

__all__ = ["CHECKS", "Check", "ComputationalGraph", "Extractor", "Links", "WholeGraphs"]
