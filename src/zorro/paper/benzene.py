"""Is there a benzene ring? Molecules in which the atoms that decide are known."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from zorro.data.molecules import ATOMS
from zorro.paper.experiment import Experiment, Settings
from zorro.paper.graph_cells import GraphCell, loaded_graphs, trained
from zorro.paper.jobs import Variant
from zorro.paper.measuring import Measurements, Row, mean, measure
from zorro.paper.molecule_jobs import OtherJob, SearchJob
from zorro.paper.molecules import balanced
from zorro.paper.paper_values import published_by
from zorro.paper.report import Report, as_table, shown

_DATASET, _MODEL = "benzene", "gine"
_MOLECULES = 200
_HARD = ("pgm", "subgraphx", "random")  # methods that select instead of weighing
_RING = 6  # atoms that soft masks are cut down to
_ATOM = [list(range(len(ATOMS)))]  # the columns that say together which atom it is


def run(settings: Settings) -> Report:
    """Train the model, then explain what it says of test molecules."""
    cell = trained(_DATASET, _MODEL, settings.runs / "weights", seed=settings.seed)
    _, dataset = loaded_graphs(cell)
    molecules = balanced(dataset, _MOLECULES, seed=settings.seed)
    ours = _ours(cell, molecules)
    others = _others(cell, molecules[::2])  # those with a ring
    asked = settings.methods
    every: tuple[SearchJob | OtherJob, ...] = (*ours, *others)
    jobs = [job for job in every if asked is None or job.name in asked]
    found = measure(jobs, settings)
    rows, lines = _entries(jobs, found)
    accuracy = ", ".join(f"{part} {value:.3f}" for part, value in cell.record["accuracy"].items())
    text = _TEXT.format(accuracy=accuracy, seed=settings.seed, count=_MOLECULES) + as_table(
        _HEADER, lines
    )
    answers = [line for job in ours if job in jobs for line in _answers(job, found)]
    text += "\n\n" + _ON_ANSWERS + as_table(_ANSWERS, answers)
    return Report(BENZENE.title, rows, text, made_with=found.made_with)


def _ours(cell: GraphCell, molecules: tuple[int, ...]) -> tuple[SearchJob, ...]:
    """Return our searches: all that were tried."""
    atom = {"feature_groups": _ATOM}
    return (
        SearchJob(cell, "zorro .85", molecules, {"tau": 0.85, **atom}),
        SearchJob(cell, "zorro .98", molecules, {"tau": 0.98, **atom}),
        SearchJob(
            cell, "zorro .85 beyond chance", molecules, {"tau": 0.85, "beyond_chance": True, **atom}
        ),
        SearchJob(cell, "zorro .85 union", molecules, {"tau": 0.85, **atom}, union=True),
        SearchJob(cell, "zorro .85 columns", molecules, {"tau": 0.85}),
    )


def _others(cell: GraphCell, molecules: tuple[int, ...]) -> tuple[OtherJob, ...]:
    every = (
        Variant("grad", "grad"),
        Variant("grad-input", "grad-input"),
        Variant("gnnexplainer", "gnnexplainer"),
        Variant("pgm", "pgm"),
        Variant("subgraphx", "subgraphx", {"most_nodes": _RING}),
        Variant("random", "random", {"sizes": (_RING, len(ATOMS))}),
    )
    return tuple(OtherJob(cell, variant, molecules, most=_RING) for variant in every)


_MEASURES = ("auroc", "precision", "recall", "jaccard")
_HEADER = ["method", "set", "molecules", *_MEASURES, "atoms", "seconds"]
_ANSWERS = [
    "search",
    "molecules",
    "explained",
    "certified",
    "nothing needed",
    "atoms",
    "nothing kept",
    "ring kept",
    "seconds",
]
_TEXT = (
    "Test molecules with a benzene ring that the model finds, a random half of {count} (seed "
    "{seed}; the other half has none). The model is a GINE of three layers, trained here; "
    "accuracies: {accuracy}. A molecule may have several acceptable truths, one for each choice of "
    "its rings: AUROC and Jaccard index are those with the truth that fits best, precision and "
    "recall those with the truth of the best Jaccard index. A molecule without a ring has no "
    "truth, and one whose ring the model misses is none either: they are in the second table "
    "alone. Entries are *published* / *ours* where there is a published value: AUROC from Sanchez-"
    "Lengeling et al. (medians over their GCNs and GATs), Jaccard index from GraphXAI, both with "
    "other models and other ways to make sets.\n\n"
    '*zorro* keeps atoms alone (`keep=("nodes",)`); an atom\'s 14 columns are redrawn together, '
    "except in *columns*, where each is redrawn by itself as in the paper. Its AUROC is that of "
    "`Zorro.importance`, its set the certified one, or: *above 0*, all atoms that bring fidelity "
    "to it; *union*, all atoms of its disjoint explanations. Other methods' soft masks are cut to "
    "the six atoms that count most, SubgraphX may select six at most, *random* selects six; PGM "
    "selects what it will. Atoms and seconds are medians.\n\n"
)
_ON_ANSWERS = (
    "What our searches say of all molecules, with and without a ring. *Nothing kept* and *ring "
    "kept* are mean shares of samples on which the answer stays.\n\n"
)


def _entries(
    jobs: Sequence[SearchJob | OtherJob], found: Measurements
) -> tuple[list[dict[str, object]], list[list[object]]]:
    """Return the rows of the CSV and the lines of the table."""
    rows: list[dict[str, object]] = []
    lines: list[list[object]] = []
    for job in jobs:
        some = [row for row in found.of(job) if row["predicted"] == 1 and "jaccard" in row]
        for kind, prefix in _sets(job):
            values = {
                name: mean(some, name if name == "auroc" else prefix + name) for name in _MEASURES
            }
            atoms = _median(some, f"{prefix}chosen")
            published = {name: _published(job.name, name) for name in _MEASURES}
            entries = [_beside(published[name], values[name]) for name in _MEASURES]
            lines.append([job.name, kind, len(some), *entries, atoms, _seconds(some)])
            rows += [
                {
                    "method": job.name,
                    "set": kind,
                    "molecules": len(some),
                    "measure": name,
                    "published": " ".join(published[name]),
                    "ours": value,
                }
                for name, value in values.items()
            ]
    return rows, lines


def _sets(job: SearchJob | OtherJob) -> list[tuple[str, str]]:
    """Return the sets that a job tells of: what they are called, and how their values begin."""
    if isinstance(job, OtherJob):
        return [("its own" if job.name in _HARD else "first six", "")]
    return [("union", "")] if job.union else [("certified", ""), ("above 0", "above 0 ")]


def _published(method: str, metric: str) -> list[str]:
    values = published_by("benzene", "method", "metric", "model")
    return [
        f"{value:.2f}" if metric == "auroc" else f"{value:.3f}"
        for (name, what, _), value in values.items()
        if (name, what) == (method, metric)
    ]


def _beside(published: Sequence[str], ours: float | None) -> str:
    return f"{', '.join(published)} / {_exact(ours)}" if published else _exact(ours)


def _exact(value: float | None) -> str:
    return shown(None) if value is None else f"{value:.3f}"


def _median(rows: Sequence[Row], name: str) -> float | None:
    return median(row[name] for row in rows) if rows else None


def _seconds(rows: Sequence[Row]) -> str:
    seconds = _median(rows, "seconds")
    return shown(None) if seconds is None else f"{seconds:.3g}"


def _answers(job: SearchJob, found: Measurements) -> list[list[object]]:
    """Return a line for the molecules that have a ring, says the model, and one for the others."""
    lines: list[list[object]] = []
    rows = found.of(job)
    for answer, title in ((1, "with a ring, says the model"), (0, "without")):
        some = [row for row in rows if row["predicted"] == answer]
        statuses = [row["status"] for row in some]
        lines.append(
            [
                job.name,
                title,
                len(some),
                sum(bool(row["certified"]) for row in some),
                statuses.count("nothing needed"),
                _median(some, "chosen"),
                mean(some, "chance"),
                mean(some, "ring"),
                _seconds(some),
            ]
        )
    return lines


BENZENE = Experiment(
    "benzene", "Molecules with known truth: is there a benzene ring?", "not in it", run
)
