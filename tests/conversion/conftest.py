"""Small tensors do not gain from threads, and workers that share cores lose by them."""

import torch

torch.set_num_threads(1)
