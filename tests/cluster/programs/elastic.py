"""A worker that draws batches ahead with DataLoader workers, from the job's pool.

    elastic.py FOLDER [die]

It notes the samples of each step when the step is done. With `die` rank 1 ends at once after two steps, as a killed process
does, and rank 0 goes on from its first step when FOLDER/go is there.
"""

import os
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import leeway.torch as lw

SAMPLES, BATCH, EPOCHS = 61, 4, 2
folder, dies = Path(sys.argv[1]), sys.argv[2:] == ["die"]
torch.set_num_threads(1)
lw.init()
model = nn.Linear(1, 1)
opt = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.01), model.named_parameters())
lw.broadcast_parameters(model.state_dict())
data = TensorDataset(torch.arange(float(SAMPLES)))
loader = DataLoader(data, batch_sampler=lw.ElasticSampler(data, BATCH, EPOCHS, seed=3), num_workers=2)
done = []
for epoch in range(EPOCHS):
    batches = iter(loader)
    for (samples,) in batches:
        while dies and lw.rank() == 0 and len(done) == 1 and not (folder / "go").exists():
            time.sleep(0.005)  # not before the first pass, where all ranks meet
        opt.zero_grad()
        model(samples[:, None] / SAMPLES).sum().backward()
        opt.step()
        opt.synchronize()
        done.append((epoch, samples.tolist()))
        time.sleep(0.01)  # the other draws too
        if dies and lw.rank() == 1 and len(done) == 2:
            torch.save(done, folder / f"result.{lw.rank()}.pt")
            for process in batches._workers:  # they would keep the connections of this one for some seconds
                process.kill()
                process.join()
            os._exit(9)
lw.join()
torch.save(done, folder / f"result.{lw.rank()}.pt")
lw.shutdown()
