"""What tests of tensors share."""

import pytest

from support.extras import optional


@pytest.fixture(autouse=True)
def one_thread():
    """One thread of torch, as a fit on tensors here has."""
    torch = optional("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
