"""The raw files may lie where nothing may be written."""

import pytest

from zorro.data.storage import dataset_root
from zorro.errors import DatasetError


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ZORRO_DATA", raising=False)
    return tmp_path / "cache" / "zorro"


@pytest.fixture
def read_only(tmp_path, monkeypatch, cache):
    root = tmp_path / "given"
    (root / "Cora" / "raw").mkdir(parents=True)
    (root / "Cora" / "raw" / "file").write_text("content")
    monkeypatch.setenv("ZORRO_DATA", str(root))
    for folder in (root / "Cora", root):
        folder.chmod(0o555)
    yield root
    for folder in (root, root / "Cora"):
        folder.chmod(0o755)


def test_cache_is_the_default(cache):
    assert dataset_root("Cora") == cache / "data"


def test_home_holds_the_cache_by_default(cache, tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert dataset_root("Cora") == tmp_path / ".cache" / "zorro" / "data"


def test_writable_folder_is_used_as_it_is(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path / "to be made"))
    assert dataset_root("Cora") == tmp_path / "to be made"


def test_read_only_folder_is_linked_from_the_cache(read_only, cache):
    root = dataset_root("Cora")
    assert root.parent == cache
    assert (root / "Cora" / "raw" / "file").read_text() == "content"
    (root / "Cora" / "processed").mkdir()
    assert [path.name for path in (read_only / "Cora").iterdir()] == ["raw"]
    assert dataset_root("Cora") == root


def test_cache_that_cannot_be_made(read_only, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(DatasetError, match="set XDG_CACHE_HOME to a folder that can be written"):
        dataset_root("Cora")


def test_read_only_folder_without_the_data_set(read_only):
    with pytest.raises(
        DatasetError, match=r"no PubMed/raw and may not be written to: put .* there"
    ):
        dataset_root("PubMed")
