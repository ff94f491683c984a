import itertools
import math

import pytest
import torch

from zorro.errors import InputError
from zorro.metrics import faithfulness

# The paper's test accuracy after 0, 200, 400, 600, 1400 and 2000 epochs.
ACCURACIES = [0.22, 0.45, 0.69, 0.75, 0.80, 0.84]


def pairs(values):
    """Count concordant less discordant pairs, written out."""
    return sum((b > a) - (b < a) for a, b in itertools.combinations(values, 2))


@pytest.mark.parametrize(
    ("precisions", "published"),
    [
        ([0.83, 0.47, 0.68, 0.71, 0.76, 0.75], 0.20),  # PGM
        ([0.94, 0.80, 0.62, 0.73, 0.84, 0.87], 0.07),  # Grad
    ],
)
def test_the_papers_values_where_no_precisions_are_equal(precisions, published):
    value = faithfulness(precisions, accuracies=ACCURACIES)
    assert value == pytest.approx(pairs(precisions) / 15)
    assert round(value, 2) == published


@pytest.mark.parametrize(
    ("precisions", "equal", "published"),
    [
        ([0.00, 0.92, 0.88, 0.93, 0.94, 0.94], (4, 5), 0.73),  # Zorro, τ = .85
        ([0.00, 0.90, 0.85, 0.84, 0.87, 0.90], (1, 5), 0.47),  # Zorro, τ = .98
        ([0.50, 0.54, 0.41, 0.40, 0.37, 0.40], (3, 5), -0.73),  # GNNExplainer
        ([0.88, 0.89, 0.78, 0.79, 0.87, 0.89], (1, 5), 0.07),  # GradInput
    ],
)
def test_the_papers_values_where_rounding_made_precisions_equal(precisions, equal, published):
    # Printed to two digits, two precisions are equal; the paper's value is of the unrounded ones,
    # of which either may have been the larger.
    possible = set()
    for larger in equal:
        unrounded = list(precisions)
        unrounded[larger] += 0.001
        possible.add(round(faithfulness(unrounded, accuracies=ACCURACIES), 2))
    assert published in possible


def test_equal_precisions_are_corrected_for():
    # 13 concordant, 1 discordant and 1 equal pair: 12 / √(15 · 14).
    printed = [0.00, 0.92, 0.88, 0.93, 0.94, 0.94]
    assert faithfulness(printed, accuracies=ACCURACIES) == pytest.approx(12 / math.sqrt(15 * 14))


def test_only_the_order_counts():
    generator = torch.Generator().manual_seed(0)
    precisions = torch.rand(8, generator=generator, dtype=torch.float64).tolist()
    accuracies = torch.rand(8, generator=generator, dtype=torch.float64).tolist()
    value = faithfulness(precisions, accuracies=accuracies)
    squared = [precision**2 for precision in precisions]
    assert faithfulness(squared, accuracies=accuracies) == pytest.approx(value)
    negative = [-precision for precision in precisions]
    assert faithfulness(negative, accuracies=accuracies) == pytest.approx(-value)
    assert faithfulness(accuracies, accuracies=precisions) == pytest.approx(value)
    assert faithfulness(precisions, accuracies=precisions) == pytest.approx(1.0)


def test_no_order_gives_nan():
    assert math.isnan(faithfulness([0.5, 0.5, 0.5], accuracies=[0.1, 0.2, 0.3]))


@pytest.mark.parametrize(
    ("precisions", "accuracies", "complaint"),
    [
        ([0.1, 0.2], [0.1, 0.2, 0.3], "as many as accuracies"),
        ([0.1], [0.1], "at least 2"),
        ([0.1, math.nan], [0.1, 0.2], "precisions: expected finite"),
        ([0.1, 0.2], [0.1, math.inf], "accuracies: expected finite"),
    ],
)
def test_lists_that_do_not_fit_are_refused(precisions, accuracies, complaint):
    with pytest.raises(InputError, match=complaint):
        faithfulness(precisions, accuracies=accuracies)
