"""Places of a molecule's atoms as chemists draw them, where RDKit is installed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zorro.errors import MissingExtraError

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

_BONDS = {"single": "SINGLE", "double": "DOUBLE", "triple": "TRIPLE", "aromatic": "AROMATIC"}


def chemical_places(
    atoms: Sequence[str], links: Numbers, bonds: Sequence[str | None]
) -> Reals | None:
    """Return where atoms lie, (n, 2), a bond being 1 long; None if they are no molecule.

    Args:
        atoms: chemical symbols.
        links: (e, 2), pairs of atoms.
        bonds: what each of the links is: single, double, triple, aromatic.
    """
    try:
        from rdkit import Chem
        from rdkit.Chem import rdDepictor
        from rdkit.rdBase import BlockLogs
    except ImportError:
        raise MissingExtraError("drawing molecules with RDKit", "molecules") from None
    known = Chem.GetPeriodicTable()
    try:
        with BlockLogs():
            molecule = Chem.RWMol()
            for atom in atoms:
                molecule.AddAtom(Chem.Atom(known.GetAtomicNumber(atom)))
            for (one, other), bond in zip(links.tolist(), bonds, strict=True):
                kind = getattr(Chem.BondType, _BONDS.get(bond or "", "SINGLE"))
                molecule.AddBond(one, other, kind)
            molecule.UpdatePropertyCache(strict=False)
            Chem.GetSymmSSSR(molecule)
            rdDepictor.Compute2DCoords(molecule)
            xy = np.asarray(molecule.GetConformer().GetPositions())[:, :2]  # (n, 2)
    except (RuntimeError, ValueError):
        return None
    if not np.isfinite(xy).all():
        return None
    lengths = np.linalg.norm(xy[links[:, 0]] - xy[links[:, 1]], axis=1)
    middle = (xy.max(0) + xy.min(0)) / 2
    return np.asarray(xy - middle) / (float(np.median(lengths)) if lengths.size else 1.5)
