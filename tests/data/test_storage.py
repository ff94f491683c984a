"""The raw files may lie where nothing may be written."""

import pytest

from zorro.data.storage import raw_folder
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
    assert raw_folder("Cora") == cache / "data" / "Cora" / "raw"


def test_home_holds_the_cache_by_default(cache, tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert raw_folder("Cora") == tmp_path / ".cache" / "zorro" / "data" / "Cora" / "raw"


def test_folder_that_is_given_is_used_as_it_is(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("ZORRO_DATA", str(tmp_path / "to be made"))
    assert raw_folder("Cora") == tmp_path / "to be made" / "Cora" / "raw"


def test_read_only_folder_is_read_and_left_alone(read_only, cache):
    assert (raw_folder("Cora") / "file").read_text() == "content"
    assert not cache.exists()


def test_read_only_folder_without_the_data_set(read_only):
    with pytest.raises(
        DatasetError, match=r"no PubMed/raw and may not be written to: put .* there"
    ):
        raw_folder("PubMed")
