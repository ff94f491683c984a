"""From single explanations to the model: what it rests on, class by class, and its mistakes."""

from zorro.audit.audit import Audit, Cell, audit
from zorro.audit.comparison import (
    ClassShift,
    CrossMeter,
    FeatureShift,
    Pair,
    RunComparison,
    compare_runs,
)
from zorro.audit.conditions import Condition
from zorro.audit.contrasts import Contrast
from zorro.audit.findings import Finding
from zorro.audit.given import classes_of_nodes, setting_of, truth_of
from zorro.audit.groups import Group
from zorro.audit.mistakes import Density, TypicalFeature
from zorro.audit.profile import ClassProfile
from zorro.audit.setting import GraphSetting, GraphsSetting, Setting
from zorro.audit.share import Median, Share
from zorro.audit.suspicious import REASONS, Suspicion
from zorro.audit.uses import Use

__all__ = [
    "REASONS",
    "Audit",
    "Cell",
    "ClassProfile",
    "ClassShift",
    "Condition",
    "Contrast",
    "CrossMeter",
    "Density",
    "FeatureShift",
    "Finding",
    "GraphSetting",
    "GraphsSetting",
    "Group",
    "Median",
    "Pair",
    "RunComparison",
    "Setting",
    "Share",
    "Suspicion",
    "TypicalFeature",
    "Use",
    "audit",
    "classes_of_nodes",
    "compare_runs",
    "setting_of",
    "truth_of",
]
