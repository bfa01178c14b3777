"""A worker that trains the GANs of gan_loops.py, one after the other."""

import sys

import torch
from gan_loops import LOOPS

import leeway.torch as lw

folder = sys.argv[1]
torch.set_num_threads(1)
lw.init()
trained = {}
for kind, (make_models, make_optimizers, loop) in LOOPS.items():
    models = trained[kind] = make_models()
    optimizers = {name: lw.DistributedOptimizer(optimizer, models[name].named_parameters())
                  for name, optimizer in make_optimizers(models).items()}
    for model in models.values():
        lw.broadcast_parameters(model.state_dict())
    for name in loop(models, lw.rank()):
        optimizers[name].step()
lw.shutdown()
torch.save({f"{kind} {name}": [p.detach() for p in model.parameters()] for kind, models in trained.items()
            for name, model in models.items()}, f"{folder}/result.{lw.rank()}.pt")
