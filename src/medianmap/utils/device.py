"""Where a fit runs: this computer's cores, or a card through torch, which is imported only when a device is asked for.

`device=` is None or "cpu" (NumPy and compiled loops, as ever), "cuda" or "cuda:1" (a card), "auto" (a card where that
gains), or "torch:cpu": what runs on a card, on tensors in main memory, to try it and test it without one.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .loading import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

logger = logging.getLogger("medianmap")

SPELLINGS = "None, 'cpu', 'cuda', 'cuda:1', 'auto' or 'torch:cpu'"
# With fewer points a fit takes the CPU about as long as loading torch and starting a card does.
WORTH_A_CARD = 10_000
# Fewer dissimilarities of new points to prototypes the CPU computes in a tenth of a second.
WORTH_ASKING = 10_000_000
# Entries of a matrix that an engine works on at a time, with a few arrays of their size beside them.
PANEL_ENTRIES = 2**26
# DLPack's numbers of main memory, plain or pinned.
MAIN_MEMORY = (1, 3)


def torch_module() -> Any:
    """torch; ModuleNotFoundError says how to install it."""
    return require("torch", "gpu", "A device")


def check_device(device: Any) -> str | None:
    """The device as it may be spelled, or ValueError; whether there is one is another question, asked by a fit."""
    if device is None or (isinstance(device, str) and re.fullmatch(r"cpu|cuda(:\d+)?|auto|torch:cpu", device)):
        return device
    raise ValueError(f"device is {device!r}; it must be {SPELLINGS}.")


def asked(device: str | None) -> bool:
    """Whether this asks for tensors, on a card or not; of "auto" only the data tell."""
    return device not in (None, "cpu")


def found(device: str) -> Any:
    """The torch.device of a spelling that asks for tensors; ValueError if there is no such card."""
    torch = torch_module()
    if device == "torch:cpu":
        return torch.device("cpu")
    number = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if number == 0:
        built = torch.version.cuda is not None or torch.version.hip is not None
        missing = "there is none, or its driver is missing (nvidia-smi lists cards)"
        reason = missing if built else "it is built without CUDA"
        raise ValueError(
            f"device is {device!r}, but torch finds no card: {reason}. "
            "Leave device out, or pass 'cpu', to use the processor."
        )
    here = torch.device("cuda", torch.cuda.current_device()) if device == "cuda" else torch.device(device)
    if here.index >= number:
        cards = "there is 1 card; use 'cuda'" if number == 1 else f"of {number} cards the last is 'cuda:{number - 1}'"
        raise ValueError(f"device is {device!r}, but {cards}.")
    return here


def chosen(device: str | None, n: int, n_bytes: int) -> Any:
    """The torch.device for a fit of n points that takes n_bytes on it; None for the usual path. "auto" is logged."""
    if not asked(device):
        return None
    if device != "auto":
        assert device is not None
        return found(device)
    reason = _against_a_card(n, n_bytes)
    if reason is None:
        logger.info("device='auto': %d points are mapped on %s.", n, _name(found("cuda")))
        return found("cuda")
    logger.info("device='auto': the CPU is used, since %s.", reason)
    return None


def gains(device: str | None, n: int, n_bytes: int) -> bool:
    """Whether a fit of n points, which takes n_bytes on a card, goes there."""
    return asked(device) and (device != "auto" or _against_a_card(n, n_bytes) is None)


def at_hand(device: str | None, n_values: int) -> Any:
    """The torch.device for so many dissimilarities to prototypes; None where the cores are as quick, or there is none.

    A model is used where it was not fitted, too, so a card that is not there is no mistake here.
    """
    if device in (None, "cpu") or find_spec("torch") is None:
        return None
    if device == "torch:cpu":
        return found(device)
    card = "cuda" if device == "auto" else device
    there = n_values >= WORTH_ASKING and int(card.partition(":")[2] or 0) < torch_module().cuda.device_count()
    return found(card) if there else None


def _against_a_card(n: int, n_bytes: int) -> str | None:
    """Why "auto" takes the CPU; the reasons that cost nothing to find come first."""
    if n < WORTH_A_CARD:
        return f"{n} points are fewer than {WORTH_A_CARD}, where a card begins to pay off"
    if find_spec("torch") is None:
        return "torch is not installed (pip install 'medianmap[gpu]')"
    if not torch_module().cuda.is_available():
        return "torch finds no card"
    free = free_bytes(found("cuda"))
    if free is not None and free < n_bytes:
        return f"{n} points need {in_words(n_bytes)} on the card, which has {in_words(free)} free"
    return None


def _name(device: Any) -> str:
    return f"{device} ({torch_module().cuda.get_device_name(device)})"


# --- tensors that users have


def on_card(X: Any) -> bool:
    """Whether X is a tensor of any library that lies on a card."""
    if hasattr(X, "is_cuda"):  # torch's, whose other marks not every type of entries has
        return bool(X.is_cuda)
    if hasattr(X, "__cuda_array_interface__"):
        return True
    return hasattr(X, "__dlpack_device__") and int(X.__dlpack_device__()[0]) not in MAIN_MEMORY


def as_tensor(X: Any) -> Any:
    """The torch tensor of X, a tensor of any library, sharing its memory."""
    torch = torch_module()
    if isinstance(X, torch.Tensor):
        return X.detach()
    return torch.from_dlpack(X) if hasattr(X, "__dlpack__") else torch.as_tensor(X, device="cuda")


def as_numpy(tensor: Any, dtype: Any = None) -> NDArray[Any]:
    """A tensor in main memory, in this type or its own, but float32 for half precision, which no kernel reads."""
    tensor = tensor.detach()
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        tensor = tensor.float()
    array = tensor.cpu().numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def in_memory(X: Any) -> Any:
    """X, or the array of a tensor that lies on a card."""
    return as_numpy(as_tensor(X)) if on_card(X) else X


# --- memory


def free_bytes(device: Any) -> int | None:
    """Bytes that can be had on a torch.device, those that torch holds unused included; None for main memory."""
    if device.type != "cuda":
        return None
    cuda = torch_module().cuda
    unused = cuda.memory_reserved(device) - cuda.memory_allocated(device)
    return int(cuda.mem_get_info(device)[0]) + int(unused)


def bytes_beyond(n: int, k: int, itemsize: int, on_lattice: bool = False) -> int:
    """Bytes that a fit of n points and k prototypes takes beside the matrix.

    Dissimilarities to prototypes, sums and what swaps of each would change: 40 bytes for every point and prototype, 72
    on a lattice, counted from the code; and a panel of the matrix with three temporaries of its size.
    """
    return (72 if on_lattice else 40) * n * k + 4 * max(itemsize, 4) * min(PANEL_ENTRIES, n * n)


def refuse_too_little_beside(device: Any, n: int, k: int, beside: int) -> None:
    """ValueError if a fit of a matrix that is on the device already has no room beside it."""
    free = free_bytes(device)
    if free is not None and free < beside:
        raise ValueError(
            f"A fit of {k} prototypes to {n} points takes {in_words(beside)} beside the matrix, and {device} has "
            f"{in_words(free)} free. Choose fewer prototypes, or keep the matrix there with dtype='float16'."
        )


def refuse_too_large(device: Any, n: int, itemsize: int, beside: int = 0) -> None:
    """ValueError if n x n entries of itemsize bytes, and `beside` bytes more, do not fit on the device.

    The sentence says how many bytes are needed, how many there are, and what would fit.
    """
    free = free_bytes(device)
    if free is None or n * n * itemsize + beside <= free:
        return
    more = f" and {in_words(beside)} beside them" if beside else ""
    smaller = [(name, n * n * size) for name, size in (("float32", 4), ("float16", 2)) if size < itemsize]
    ways = [f"dtype='{name}' ({in_words(taken)})" for name, taken in smaller if taken + beside <= free][:1]
    ways.append("stream=True, which leaves them in main memory or on disk")
    most = int((max(0, free - beside) / itemsize) ** 0.5)
    raise ValueError(
        f"{n} x {n} dissimilarities take {in_words(n * n * itemsize)}{more}, and {device} has {in_words(free)} free. "
        f"Pass as_dissimilarity(X, ..., device=...) with {' or '.join(ways)}; as they are, about {most} points fit. "
        "Any number are mapped in one pass over patches: PatchClusterer, or --patch on the command line."
    )


def in_words(n_bytes: float) -> str:
    """1536000000 -> '1.5 GB'."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{int(n_bytes)} bytes"


@contextmanager
def released(device: Any) -> Iterator[None]:
    """When the body has ended, well or not, nothing that it made is left on a card.

    device : as it may be spelled; None does nothing. Where the body fails, what its calls held in their variables is
        let go, too: the traceback of an error would keep it for as long as somebody has the error. A card without
        memory is one sentence.
    """
    if device in (None, "cpu"):
        yield
        return
    try:
        with _one_thread() if device == "torch:cpu" else nullcontext():
            yield
    except BaseException as error:
        traceback.clear_frames(error.__traceback__)
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(error, torch.cuda.OutOfMemoryError):
            raise MemoryError(_out_of_memory(str(error))) from None
        raise
    finally:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.empty_cache()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Torch has one thread: the same bits on any number of cores, and no waiting for others where tensors are small."""
    torch = torch_module()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _out_of_memory(said: str) -> str:
    wanted = re.search(r"Tried to allocate ([\d.]+ \w+)", said)
    more = f": {wanted[1]} more were needed" if wanted else ""
    return (
        f"The card has no memory left{more}. Fewer prototypes or points need less, and so does a matrix in half "
        "precision, as_dissimilarity(X, ..., device=..., dtype='float16'); with stream=True it stays in main memory."
    )
