import pytest

from zorro.data import DATASETS
from zorro.data.names import names_of

# Cora's and CiteSeer's classes by size, as the data sets' authors count them; CiteSeer's 15 papers
# without a class in the raw files are AI's in PyG's.
SIZES = {
    "cora": {
        "Theory": 351,
        "Reinforcement Learning": 217,
        "Genetic Algorithms": 418,
        "Neural Networks": 818,
        "Probabilistic Methods": 426,
        "Case Based": 298,
        "Rule Learning": 180,
    },
    "citeseer": {"AI": 264, "ML": 590, "IR": 668, "DB": 701, "Agents": 596, "HCI": 508},
}


@pytest.mark.parametrize("dataset", SIZES)
def test_classes_have_the_sizes_that_belong_to_their_names(real_graph, dataset):
    sizes = real_graph(dataset).y.bincount().tolist()
    names = names_of(dataset)
    assert {names.of_class(number): size for number, size in enumerate(sizes)} == SIZES[dataset]


@pytest.mark.parametrize("dataset", [*DATASETS, "my.npz"])
def test_every_data_set_has_nouns(dataset):
    assert names_of(dataset).counted("nodes", 2).startswith("2 ")


def test_what_has_no_name_is_numbered():
    names = names_of("ba-community")
    assert (names.of_node(3), names.of_feature(4), names.of_class(5)) == (
        "node 3",
        "feature 4",
        "class 5",
    )
