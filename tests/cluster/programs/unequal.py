"""Ranks with unequally many batches that average a figure after each epoch, without join().

    unequal.py FOLDER
"""

import torch

import leeway.torch as lw

lw.init()
model = torch.nn.Linear(4, 1)
opt = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.01), model.named_parameters())
lw.broadcast_parameters(model.state_dict(), root_rank=0)
for epoch in range(3):
    loss = torch.zeros(1)
    for _ in range(3 + 2 * lw.rank()):
        opt.zero_grad()
        loss = model(torch.ones(2, 4)).square().mean()
        loss.backward()
        opt.step()
    print("mean loss", lw.push_pull(loss.detach().reshape(1), name="loss").item())
lw.shutdown()
