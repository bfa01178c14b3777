"""A worker with a GradScaler: rank 1 finds infinities in the steps of OVERFLOWS, and all ranks skip them.

    amp.py FOLDER
"""

import sys
from pathlib import Path

import torch
from amp_loop import make_model, train
from own_scaler import OwnScaler

import leeway.torch as lw

torch.set_num_threads(1)
lw.init()
model, scaler = make_model(), OwnScaler(4096.0)
opt = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), model.named_parameters())
lw.broadcast_parameters(model.state_dict())
train(model, opt, scaler, [lw.rank()])
steps = lw.iteration()
lw.shutdown()
torch.save({"ended": model.state_dict(), "scale": scaler.get_scale(), "steps": steps}, Path(sys.argv[1]) / f"result.{lw.rank()}.pt")
