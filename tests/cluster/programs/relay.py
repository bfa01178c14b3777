"""One worker of the test of relay: trains each case with torch's DDP, then with Leeway, and saves what both end with.

    relay.py FOLDER
"""

import sys
from pathlib import Path

import torch
from relay_setup import CASES, STEPS, Model, loss
from torch import distributed

import leeway.torch as lw

folder = Path(sys.argv[1])
torch.set_num_threads(1)
lw.init()
rank = lw.rank()
distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=lw.size())
result = {}
for case, (make, apply) in CASES.items():
    model = Model(3 + rank, case == "uneven")  # ranks start apart
    with_ddp = Model(3, case == "uneven")
    ddp = torch.nn.parallel.DistributedDataParallel(with_ddp, find_unused_parameters=case == "uneven")
    ddp_optimizer = make(with_ddp.parameters())
    named = [(f"{case}.{name}", parameter) for name, parameter in model.named_parameters()]
    optimizer = lw.DistributedOptimizer(make(model.parameters()), named, apply=apply, overlap=True)
    lw.broadcast_parameters(model.state_dict(), root_rank=0)
    losses = []
    # Without a gradient torch's default before 2.0 steps with zeros, and DDP with it.
    to_none = case == "uneven"
    for step in range(STEPS):
        ddp_optimizer.zero_grad(set_to_none=to_none)
        loss(ddp, rank, step).backward()
        ddp_optimizer.step()
        optimizer.zero_grad(set_to_none=to_none)
        losses.append(loss(model, rank, step))
        losses[-1].backward()
        optimizer.step()
    result[case] = {"ddp": [p.detach().clone() for p in with_ddp.parameters()],
                    "relay": [p.detach().clone() for p in model.parameters()],
                    "fell": bool(sum(losses[-5:]) < sum(losses[:5])), "figures": optimizer.figures()}
# Ranks have losses of their own, and a line search has to end alike on all of them.
fitted = Model(3 + rank, False)
fitting = lw.DistributedOptimizer(torch.optim.LBFGS(fitted.parameters(), line_search_fn="strong_wolfe", max_iter=5),
                                  [(f"lbfgs.{name}", parameter) for name, parameter in fitted.named_parameters()])
lw.broadcast_parameters(fitted.state_dict(), root_rank=0)


def closure():
    fitting.zero_grad()
    value = loss(fitted, rank, 0)
    value.backward()
    return value


losses = [float(fitting.step(closure)) for _ in range(3)]
result["lbfgs"] = {"relay": [p.detach().clone() for p in fitted.parameters()], "fell": losses[-1] < 0.5 * losses[0], "losses": losses}
torch.save(result, folder / f"result.{rank}.pt")
lw.shutdown()
for parameter, before in zip(model.parameters(), result["uneven"]["relay"]):
    assert torch.equal(parameter, before), "the end changes nothing"
