"""Where a fit runs: spellings, cards that are not there, memory that does not suffice, what is left after errors."""

import gc
import logging
import re
import subprocess
import sys
import weakref
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from support.extras import optional

from medianmap import MedianNeuralGas, as_dissimilarity
from medianmap.utils import device as devices
from medianmap.utils import loading
from medianmap.utils.device import asked, bytes_beyond, check_device, chosen, found, gains, in_words, on_card, released

torch = optional("torch")


@pytest.fixture
def card(monkeypatch):
    """card(free, number=1) -> as if there were cards with so many bytes free, the first of which is torch's CPU."""

    def put(free: int, number: int = 1):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: number)
        monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a card")
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 2 * free))
        monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 0)
        monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 0)

    return put


@pytest.mark.parametrize("spelling", [None, "cpu", "cuda", "cuda:0", "cuda:12", "auto", "torch:cpu"])
def test_what_a_device_may_be_called(spelling):
    assert check_device(spelling) == spelling
    assert asked(spelling) == (spelling not in (None, "cpu"))


@pytest.mark.parametrize("spelling", ["gpu", "CUDA", "cuda:", "cuda:x", "torch", "", 0, True, ["cuda"]])
def test_another_name_is_refused_with_those_there_are(spelling):
    with pytest.raises(ValueError, match=r"^device is .*; it must be None, 'cpu', 'cuda', 'cuda:1', 'auto' or"):
        check_device(spelling)
    with pytest.raises(ValueError, match=r"^device is"):
        MedianNeuralGas(2, device=spelling).fit(np.eye(4))


def test_the_usual_path_asks_for_no_torch(monkeypatch):
    monkeypatch.setattr(devices, "torch_module", lambda: pytest.fail("torch was asked for"))
    assert chosen(None, 10**6, 1) is None
    assert chosen("cpu", 10**6, 1) is None
    assert chosen("auto", 100, 1) is None


def test_nothing_imports_torch_unless_a_device_is_asked_for():
    code = ("import sys, numpy as np, medianmap\n"
            "for how in ({}, {'device': 'cpu'}, {'device': 'auto'}):\n"
            "    medianmap.MedianNeuralGas(2, random_state=0, **how).fit(np.eye(6))\n"
            "assert 'torch' not in sys.modules")  # fmt: skip
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_extra_says_how_to_install_it(monkeypatch):
    def absent(module):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(loading, "import_module", absent)
    with pytest.raises(ModuleNotFoundError, match=r"needs torch; install it with: pip install 'medianmap\[gpu\]'"):
        MedianNeuralGas(2, device="cuda").fit(np.eye(6))


def test_a_missing_card_is_told(monkeypatch, card):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(
        ValueError, match=r"^device is 'cuda', but torch finds no card: .*Leave device out, or pass 'cpu'"
    ):
        MedianNeuralGas(2, device="cuda").fit(np.eye(6))
    card(10**9)
    assert found("cuda") == torch.device("cuda", 0)
    assert found("torch:cpu") == torch.device("cpu")
    with pytest.raises(ValueError, match=r"^device is 'cuda:3', but there is 1 card; use 'cuda'\.$"):
        found("cuda:3")
    card(10**9, number=2)
    with pytest.raises(ValueError, match=r"but of 2 cards the last is 'cuda:1'\.$"):
        found("cuda:2")


def test_auto_takes_a_card_where_that_gains_and_says_so(monkeypatch, card, caplog):
    caplog.set_level(logging.INFO, "medianmap")
    card(10**9)
    assert chosen("auto", 20_000, 10**8) == torch.device("cuda", 0)
    assert "20000 points are mapped on cuda:0 (a card)" in caplog.text
    assert not gains("auto", 9_999, 10**8)
    too_large = "2.0 GB on the card, which has 1.0 GB"
    for n, n_bytes, reason in [(9_999, 10**8, "fewer than 10000"), (20_000, 2 * 10**9, too_large)]:
        caplog.clear()
        assert chosen("auto", n, n_bytes) is None
        assert reason in caplog.text
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert chosen("auto", 20_000, 10**8) is None
    assert "torch finds no card" in caplog.text
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    assert chosen("auto", 20_000, 10**8) is None
    assert "pip install 'medianmap[gpu]'" in caplog.text


def test_too_little_memory_is_refused_with_the_bytes_and_what_fits(monkeypatch, card):
    card(10**9)
    here = torch.device("cuda", 0)
    devices.refuse_too_large(here, 10_000, 8)
    with pytest.raises(ValueError) as refused:
        devices.refuse_too_large(here, 15_000, 8, 50_000_000)
    said = str(refused.value)
    assert "15000 x 15000 dissimilarities take 1.8 GB and 50.0 MB beside them, and cuda:0 has 1.0 GB free" in said
    assert "dtype='float32' (900.0 MB) or stream=True" in said
    assert "about 10897 points fit" in said  # sqrt(0.95e9 / 8)
    with pytest.raises(ValueError, match=r"dtype='float16' \(800.0 MB\) or stream=True"):
        devices.refuse_too_large(here, 20_000, 4)
    with pytest.raises(ValueError, match=r"with stream=True.*PatchClusterer"):
        devices.refuse_too_large(here, 10**6, 2)
    devices.refuse_too_large(torch.device("cpu"), 10**9, 8)  # main memory is the operating system's affair


def test_a_map_counts_what_it_needs_beside_the_matrix(monkeypatch):
    D = np.abs(np.subtract.outer(np.arange(40.0), np.arange(40.0)))
    needed = 40 * 40 * 8 + bytes_beyond(40, 5, 8)
    gas = MedianNeuralGas(5, metric="precomputed", random_state=0, device="torch:cpu")
    monkeypatch.setattr(devices, "free_bytes", lambda device: needed)
    gas.fit(D)
    monkeypatch.setattr(devices, "free_bytes", lambda device: needed - 1)
    with pytest.raises(ValueError, match=r"40 x 40 dissimilarities take 12\.8 kB and"):
        gas.fit(D)


def test_bytes_beyond_grow_with_points_and_prototypes():
    assert bytes_beyond(131_072, 1024, 4) == 40 * 131_072 * 1024 + 2**30
    assert bytes_beyond(131_072, 1024, 4, on_lattice=True) == 72 * 131_072 * 1024 + 2**30
    assert bytes_beyond(100, 10, 8) == 40 * 1000 + 4 * 8 * 10_000


def test_the_page_says_how_many_points_fit():
    page = (Path(__file__).parents[2] / "docs/gpu.md").read_text()
    rows = re.findall(r"^\| (\d+) GB \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert [row[0] for row in rows] == ["24", "48", "80", "141"]
    for card_, *numbers in rows:
        for n, size in zip(map(int, numbers), (8, 4, 2), strict=True):
            free = (int(card_) - 1) * 10**9
            assert n * n * size + bytes_beyond(n, 1000, size) <= free
            assert (n + 1) ** 2 * size + bytes_beyond(n + 1, 1000, size) > free


def test_where_tensors_lie():
    class Torchs:
        is_cuda = True

    class Numbas:
        __cuda_array_interface__: ClassVar = {}

    class Others:
        def __init__(self, kind):
            self.kind = kind

        def __dlpack_device__(self):
            return self.kind, 0

    assert [on_card(X) for X in (Torchs(), Numbas(), Others(2), Others(13), Others(10))] == [True] * 5
    assert [on_card(X) for X in (torch.ones(2), np.ones(2), [1.0], "x", Others(1), Others(3))] == [False] * 6


def test_a_matrix_that_is_there_needs_room_beside_it(monkeypatch):
    D = np.abs(np.subtract.outer(np.arange(40.0), np.arange(40.0)))
    source = as_dissimilarity(D, device="torch:cpu")
    monkeypatch.setattr(devices, "free_bytes", lambda device: bytes_beyond(40, 5, 8))
    MedianNeuralGas(5, metric="precomputed").fit(source)
    with pytest.raises(ValueError, match=r"^A fit of 6 prototypes to 40 points takes 60\.8 kB beside the matrix"):
        MedianNeuralGas(6, metric="precomputed").fit(source)


def test_bytes_in_words():
    assert [in_words(n) for n in (12, 12_300, 1_536_000_000)] == ["12 bytes", "12.3 kB", "1.5 GB"]


class Kept:
    """Something that a fit would allocate."""


def _fails(error, kept):
    mine = Kept()
    kept.append(weakref.ref(mine))
    raise error


@pytest.mark.parametrize("error", [ValueError("wrong"), KeyboardInterrupt()])
def test_an_error_keeps_nothing_of_what_was_made(error):
    kept = []
    with pytest.raises(type(error)) as caught, released("torch:cpu"):
        _fails(error, kept)
    gc.collect()
    assert kept[0]() is None
    assert caught.value is error


def test_a_card_without_memory_is_one_sentence():
    kept, error = [], torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has ...")
    said = r"no memory left: 2.00 GiB more were needed\. .*dtype='float16'"
    with pytest.raises(MemoryError, match=said), released("cuda"):
        _fails(error, kept)
    gc.collect()
    assert kept[0]() is None


def test_without_a_device_errors_keep_their_variables():
    kept = []
    with pytest.raises(ValueError, match="wrong") as caught, released(None):
        _fails(ValueError("wrong"), kept)
    assert kept[0]() is not None
    assert caught.value.args == ("wrong",)
