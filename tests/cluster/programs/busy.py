"""Trains nothing: burns so much of a processor in every iteration, and pushes."""

import argparse
import time

import torch

import leeway.torch as lw

parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int)
parser.add_argument("--cpu-ms", type=float)
arguments = parser.parse_args()

lw.init()
parameters = [("w", torch.nn.Parameter(torch.zeros(20_000))), ("b", torch.nn.Parameter(torch.zeros(10)))]
optimizer = lw.DistributedOptimizer(torch.optim.SGD([p for _, p in parameters], lr=0.1), parameters)
lw.broadcast_parameters(dict(parameters), root_rank=0)
for _ in range(arguments.iterations):
    optimizer.zero_grad()
    until = time.thread_time() + arguments.cpu_ms / 1000
    while time.thread_time() < until:
        pass
    sum(p.sum() for _, p in parameters).backward()
    optimizer.step()
lw.shutdown()
