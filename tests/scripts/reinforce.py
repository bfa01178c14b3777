"""REINFORCE in a small environment: a walker on a line that is paid for going right, with episodes of unequal length."""

import sys
from pathlib import Path

import torch
from torch import nn

PLACES, STEPS = 7, 12
torch.manual_seed(0)


class Walk:
    """Begins in the middle and ends at either end, or after STEPS steps."""

    def __init__(self):
        self.place, self.steps = PLACES // 2, 0

    def step(self, action):
        self.place += 1 if action else -1
        self.steps += 1
        over = self.place in (0, PLACES - 1) or self.steps == STEPS
        return (1.0 if action else -1.0), over


def observed(place):
    return nn.functional.one_hot(torch.tensor(place), PLACES).float()


model = nn.Sequential(nn.Linear(PLACES, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
draws = torch.Generator().manual_seed(0)
losses = []
for iteration in range(24):
    walk, chosen, rewards, over = Walk(), [], [], False
    while not over:
        scores = model(observed(walk.place)).log_softmax(0)
        action = torch.multinomial(scores.detach().exp(), 1, generator=draws).item()
        reward, over = walk.step(action)
        chosen.append(scores[action])
        rewards.append(reward)
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    optimizer.zero_grad()
    (-(torch.stack(chosen) * returns).mean()).backward()
    optimizer.step()
    losses.append(-sum(rewards) / len(rewards))
torch.save({"values": model.state_dict(), "losses": losses}, Path(sys.argv[1]) / "result.pt")
